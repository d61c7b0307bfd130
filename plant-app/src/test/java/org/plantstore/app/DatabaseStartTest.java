package org.plantstore.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.file.attribute.PosixFilePermissions.asFileAttribute;
import static java.nio.file.attribute.PosixFilePermissions.fromString;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A start waits for a database that is down, and ends at once if waiting cannot help. */
@Tag("slow")
class DatabaseStartTest {

  private static final String WAITS = "The database is unavailable; the start has waited for ";

  @TempDir Path data;

  @Test
  void start_waits_visibly_with_closed_ports_for_a_database_that_is_down_and_can_be_ended()
      throws IOException {
    DatabaseServer server = new DatabaseServer(data);
    server.close();
    try (server;
        ServiceProcess other = new ServiceProcess(server.database().environment());
        ServiceProcess service = new ServiceProcess(server.database().environment())) {
      String reason = " s of 60 s: Connection to 127.0.0.1:" + server.port();
      assertTrue(service.awaitLine(WAITS).contains(reason), service::output);
      Await.until(() -> assertTrue(service.lines(reason).size() > 1, "it says so again"));
      assertFalse(ServiceProcess.isOpen(service.port), "the port is open");
      assertFalse(ServiceProcess.isOpen(service.managementPort), "the management port is open");

      other.awaitLine(WAITS);
      assertEquals(ServiceProcess.TERMINATED, other.stop());
      assertEquals("", other.errors());

      server.restart();
      assertServes(service);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1     | /postgres                 | postgres | ; check DATABASE_URL, .*
          SAME  | /missing                  | postgres | ; check DATABASE_URL, .*\\(SQLSTATE 3D000\\)
          SAME  | /postgres?sslmode=require | postgres | ; check DATABASE_URL, .*does not support SSL. \\(SQLSTATE 08004\\)
          SAME  | /postgres                 | nobody   | ; check DATABASE_URL, .*\\(SQLSTATE 28000\\)
          """)
  void start_gives_up_when_the_time_is_over_or_waiting_cannot_help(
      String port, String path, String account, String reason) {
    String address =
        "127.0.0.1:" + port.replace("SAME", String.valueOf(Database.shared().port())) + path;
    Map<String, String> environment =
        Database.environmentAt(
            address, "DATABASE_USERNAME", account, "DATABASE_START_TIMEOUT_SECONDS", "1");
    assertRefused(environment, "the database cannot be used" + reason);
  }

  @Test
  void start_gives_up_while_its_tables_are_locked() throws Exception {
    Database database = Database.create();
    StartTest.start(database.environment()); // makes the tables
    try (Connection locker = database.lock("flyway_schema_history")) {
      assertRefused(
          database.environment("DATABASE_START_TIMEOUT_SECONDS", "1"),
          "the tables of the database cannot be brought up to date: canceling statement due to"
              + " lock timeout \\(SQLSTATE 55P03\\)");
      locker.rollback();
    }
  }

  /** The account has no more connections than a service needs, and a certificate, no password. */
  @Test
  void database_over_tls_is_used_if_its_certificate_is_trusted_and_of_its_host() throws Exception {
    TestCertificate certificate = TestCertificate.issue();
    String root = certificate.files().toTempRootCertPem().toString();
    String otherRoot = TestCertificate.issue().files().toTempRootCertPem().toString();
    try (DatabaseServer server = new DatabaseServer(data)) {
      Path chain =
          Files.writeString(
              data.resolve("server.crt"), certificate.files().getCertificatePathPEM());
      byte[] pem = certificate.files().getPrivateKeyPEM().getBytes(US_ASCII);
      writeSecret("server.key", pem);
      byte[] key = certificate.files().getKeyPair().getPrivate().getEncoded();
      String client = root + "&sslcert=" + chain + "&sslkey=";
      Path accounts = data.resolve("pg_hba.conf");
      Files.writeString(accounts, "hostssl all server all cert\n" + Files.readString(accounts));
      Database database = server.database();
      database.execute(
          "CREATE ROLE server LOGIN CONNECTION LIMIT 5",
          "GRANT CREATE ON SCHEMA public TO server",
          "ALTER SYSTEM SET ssl = on",
          "ALTER SYSTEM SET ssl_ca_file = '" + root + "'", // asks for a client's certificate
          "SELECT pg_reload_conf()");
      Await.until(() -> assertEquals("on", database.single("SHOW ssl")));

      Map<String, String> ofCertificate =
          verifying("localhost", server, client + writeSecret("key.pk8", key));
      ofCertificate.putAll(Map.of("DATABASE_USERNAME", "server", "DATABASE_PASSWORD", ""));
      try (ServiceProcess service = new ServiceProcess(ofCertificate)) {
        assertServes(service);
      }

      // The key of the client is not in a form that the driver reads.
      String unreadable = client + writeSecret("key.der", pem);
      assertDistrusted("localhost", server, unreadable, "Could not read SSL key file .*key.der");
      assertDistrusted("localhost", server, "system", "PKIX path building failed: ");
      assertDistrusted("localhost", server, otherRoot, "PKIX path validation failed: ");
      assertDistrusted("127.0.0.1", server, root, "The hostname 127.0.0.1 could not be ");
    }
  }

  private Path writeSecret(String name, byte[] content) throws IOException {
    Path file = Files.createFile(data.resolve(name), asFileAttribute(fromString("rw-------")));
    return Files.write(file, content);
  }

  private static Map<String, String> verifying(String host, DatabaseServer server, String root) {
    String path = "/postgres?sslmode=verify-full&sslrootcert=" + root;
    return Database.environmentAt(host + ":" + server.port() + path);
  }

  private static void assertDistrusted(
      String host, DatabaseServer server, String root, String reason) {
    assertRefused(
        verifying(host, server, root),
        "the database cannot be used; check its certificate, and the host and the parameters in"
            + " DATABASE_URL: .*"
            + reason
            + ".*");
  }

  private static void assertServes(ServiceProcess service) {
    service.awaitReady();
    assertEquals(200, service.create(1, "fern").statusCode());
    assertEquals("", service.errors());
  }

  private static void assertRefused(Map<String, String> environment, String reason) {
    String refusal = StartTest.refusal(environment);
    assertTrue(refusal.matches(reason), refusal);
  }
}
