package org.plantstore.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.file.attribute.PosixFilePermissions.asFileAttribute;
import static java.nio.file.attribute.PosixFilePermissions.fromString;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
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
import org.plantstore.fixture.DatabaseServer;
import org.plantstore.fixture.TestCertificate;

/** Startup waits for a database that is down, but fails at once if waiting cannot help. */
@Tag("slow")
class DatabaseStartupTest {

  private static final String WAITS = "The database is unavailable; startup has been waiting for ";

  @TempDir Path data;

  @Test
  void startup_logs_its_wait_for_the_database_keeps_ports_closed_and_can_be_stopped()
      throws IOException {
    DatabaseServer server = new DatabaseServer(data);
    server.close();
    try (server;
        ServiceProcess stopped = new ServiceProcess(Database.of(server).environment());
        ServiceProcess service = new ServiceProcess(Database.of(server).environment())) {
      String reason = " s (limit: 60 s): Connection to 127.0.0.1:" + server.port();
      assertTrue(service.awaitLine(WAITS).contains(reason), service::output);
      Await.until(() -> assertTrue(service.lines(reason).size() > 1, "must log it again"));
      assertFalse(ServiceProcess.isOpen(service.port), "the API port is open");
      assertFalse(ServiceProcess.isOpen(service.managementPort), "the management port is open");

      stopped.awaitLine(WAITS);
      assertEquals(ServiceProcess.TERMINATED, stopped.stop());
      assertEquals("", stopped.errors());

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
          SAME  | /missing                  | postgres | ; name an existing database in DATABASE_URL, .*\\(SQLSTATE 3D000\\)
          SAME  | /postgres?sslmode=require | postgres | ; check DATABASE_URL, .*does not support SSL. \\(SQLSTATE 08004\\)
          SAME  | /postgres                 | nobody   | ; check DATABASE_URL, .*\\(SQLSTATE 28000\\)
          """)
  void startup_fails_after_the_timeout_or_if_waiting_cannot_help(
      String port, String path, String username, String reason) {
    String address =
        "127.0.0.1:" + port.replace("SAME", String.valueOf(Database.shared().port())) + path;
    Map<String, String> environment =
        Database.environmentAt(
            address, "DATABASE_USERNAME", username, "DATABASE_START_TIMEOUT_SECONDS", "1");
    assertRefused(environment, "the database cannot be used" + reason);
  }

  @Test
  void startup_fails_if_the_tables_stay_locked() throws Exception {
    Database database = Database.create();
    StartupTest.start(database.environment()); // creates the tables
    try (Connection locker = database.lock("flyway_schema_history")) {
      assertRefused(
          database.environment("DATABASE_START_TIMEOUT_SECONDS", "1"),
          "the database tables cannot be brought up to date: canceling statement due to"
              + " lock timeout \\(SQLSTATE 55P03\\)");
      locker.rollback();
    }
  }

  /**
   * Uses a role that has only as many connections as one service needs and that authenticates with
   * a certificate instead of a password.
   */
  @Test
  void database_certificate_must_be_trusted_and_must_name_the_host() throws Exception {
    CertificateBuilder builder = new CertificateBuilder().ecp256().subject("CN=server");
    X509Bundle certificate = TestCertificate.issue(builder.addSanDnsName("localhost"));
    String root = certificate.toTempRootCertPem().toString();
    String otherRoot = TestCertificate.newAuthority().toTempRootCertPem().toString();
    try (DatabaseServer server = new DatabaseServer(data)) {
      Path chain =
          Files.writeString(data.resolve("server.crt"), certificate.getCertificatePathPEM());
      byte[] pem = certificate.getPrivateKeyPEM().getBytes(US_ASCII);
      writeSecret("server.key", pem);
      byte[] key = certificate.getKeyPair().getPrivate().getEncoded();
      String client = root + "&sslcert=" + chain + "&sslkey=";
      Path hostRules = data.resolve("pg_hba.conf");
      Files.writeString(hostRules, "hostssl all server all cert\n" + Files.readString(hostRules));
      Database database = Database.of(server);
      database.execute(
          "CREATE ROLE server LOGIN CONNECTION LIMIT 5",
          "GRANT CREATE ON SCHEMA public TO server",
          "ALTER SYSTEM SET ssl = on",
          "ALTER SYSTEM SET ssl_ca_file = '" + root + "'", // requests a client certificate
          "SELECT pg_reload_conf()");
      Await.until(() -> assertEquals("on", database.single("SHOW ssl")));

      Map<String, String> withCertificate =
          tlsSettings("localhost", server, client + writeSecret("key.pk8", key));
      withCertificate.putAll(Map.of("DATABASE_USERNAME", "server", "DATABASE_PASSWORD", ""));
      try (ServiceProcess service = new ServiceProcess(withCertificate)) {
        assertServes(service);
      }

      // The file contains PEM although its name ends in .der, so the driver cannot read the key.
      String unreadable = client + writeSecret("key.der", pem);
      assertTlsRefused("localhost", server, unreadable, "Could not read SSL key file .*key.der");
      assertTlsRefused("localhost", server, "system", "PKIX path building failed: ");
      assertTlsRefused("localhost", server, otherRoot, "PKIX path validation failed: ");
      assertTlsRefused("127.0.0.1", server, root, "The hostname 127.0.0.1 could not be ");
    }
  }

  private Path writeSecret(String name, byte[] content) throws IOException {
    Path file = Files.createFile(data.resolve(name), asFileAttribute(fromString("rw-------")));
    return Files.write(file, content);
  }

  private static Map<String, String> tlsSettings(String host, DatabaseServer server, String root) {
    String path = "/postgres?sslmode=verify-full&sslrootcert=" + root;
    return Database.environmentAt(host + ":" + server.port() + path);
  }

  private static void assertTlsRefused(
      String host, DatabaseServer server, String root, String reason) {
    assertRefused(
        tlsSettings(host, server, root),
        "the database cannot be used; check the server's certificate, and the host and"
            + " parameters in DATABASE_URL: .*"
            + reason
            + ".*");
  }

  private static void assertServes(ServiceProcess service) {
    service.awaitReady();
    assertEquals(200, service.create(1, "fern").statusCode());
    assertEquals("", service.errors());
  }

  private static void assertRefused(Map<String, String> environment, String reason) {
    String refusal = StartupTest.refusal(environment);
    assertTrue(refusal.matches(reason), refusal);
  }
}
