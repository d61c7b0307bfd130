package org.plantstore.app;

import static java.nio.file.attribute.PosixFilePermissions.asFileAttribute;
import static java.nio.file.attribute.PosixFilePermissions.fromString;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.sql.Connection;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A start waits for a database that is down, and ends at once if waiting cannot help. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class DatabaseStartTest {

  private static final String WAITS = "The database is unavailable; the start has waited for ";

  private static final Map<String, String> IMPATIENCE =
      Map.of("DATABASE_START_TIMEOUT_SECONDS", "1");

  private static final Database ABSENT = new Database(ServiceProcess.freePort(), "postgres");

  @Test
  void start_waits_visibly_with_closed_ports_for_a_database_that_is_down(@TempDir Path data)
      throws IOException {
    DatabaseServer server = new DatabaseServer(data);
    server.close();
    try (server;
        ServiceProcess service = new ServiceProcess(server.database().environment())) {
      String reason = " s of 60 s: Connection to 127.0.0.1:" + server.port();
      assertTrue(service.awaitLine(WAITS).contains(reason), service::output);
      Await.until("it says so again", () -> service.linesWith(reason) > 1);
      assertFalse(service.isOpen(), "the port is open");
      assertEquals(-1, service.readiness(), "the management port is open");

      server.restart();
      assertServes(service);
    }
  }

  @Test
  void start_that_waits_ends_when_it_is_asked_to() {
    try (ServiceProcess service = new ServiceProcess(ABSENT.environment())) {
      service.awaitLine(WAITS);

      assertEquals(ServiceProcess.TERMINATED, service.stop());
      assertEquals("", service.errors());
    }
  }

  @Test
  void start_gives_up_when_the_time_is_over() {
    assertRefused(
        ABSENT.environment(IMPATIENCE),
        "the database cannot be used, not even after 1 s; check DATABASE_URL, .*");
  }

  @ParameterizedTest
  @CsvSource({
    "missing, '', postgres, .*\\(SQLSTATE 3D000\\)",
    "postgres, ?sslmode=require, postgres, .*does not support SSL. \\(SQLSTATE 08004\\)",
    "postgres, '', nobody, .*\\(SQLSTATE 28000\\)"
  })
  void start_does_not_wait_for_what_waiting_cannot_mend(
      String name, String parameters, String account, String reason) {
    Map<String, String> environment =
        new Database(Database.shared().port(), name)
            .environment(Map.of("DATABASE_USERNAME", account));
    environment.merge("DATABASE_URL", parameters, String::concat);
    // The reason of a start that has waited says for how long.
    assertRefused(environment, "the database cannot be used; check DATABASE_URL, " + reason);
  }

  /** The account has no more connections than a service needs, and a certificate, no password. */
  @Test
  @Tag("newest")
  void database_over_tls_is_used_if_its_certificate_is_trusted_and_of_its_host(@TempDir Path data)
      throws Exception {
    TestCertificate certificate = TestCertificate.issue();
    String root = certificate.files().toTempRootCertPem().toString();
    String otherRoot = TestCertificate.issue().files().toTempRootCertPem().toString();
    try (DatabaseServer server = new DatabaseServer(data)) {
      Path chain =
          Files.writeString(
              data.resolve("server.crt"), certificate.files().getCertificatePathPEM());
      Path key =
          Files.createFile(data.resolve("server.key"), asFileAttribute(fromString("rw-------")));
      Files.writeString(key, certificate.files().getPrivateKeyPEM());
      Path accounts = data.resolve("pg_hba.conf");
      String others = Files.readString(accounts);
      Files.writeString(accounts, "hostssl all server all cert\n" + others);
      Database database = server.database();
      database.execute(
          "CREATE ROLE server LOGIN CONNECTION LIMIT 5",
          "GRANT CREATE ON SCHEMA public TO server",
          "ALTER SYSTEM SET ssl = on",
          "ALTER SYSTEM SET ssl_ca_file = '" + root + "'", // asks for a client's certificate
          "SELECT pg_reload_conf()");
      Await.until("TLS is on", () -> database.single("SHOW ssl").equals("on"));

      Path der = Files.write(data.resolve("key.pk8"), encoded(certificate));
      Files.setPosixFilePermissions(der, fromString("rw-------"));
      Map<String, String> ofCertificate = verifying("localhost", server, root);
      ofCertificate.merge("DATABASE_URL", client(chain, der), String::concat);
      ofCertificate.put("DATABASE_USERNAME", "server");
      ofCertificate.put("DATABASE_PASSWORD", "");
      try (ServiceProcess service = new ServiceProcess(ofCertificate)) {
        assertServes(service);
      }
      // The key that is to be a client's is not in a form that the driver reads.
      Path text = Files.copy(key, data.resolve("key.der"));
      ofCertificate.compute("DATABASE_URL", (name, url) -> url.replace("key.pk8", "key.der"));
      assertDistrusted(ofCertificate, "Could not read SSL key file " + text);

      assertServedWith(trustStore(certificate, data), verifying("localhost", server, "system"));
      assertDistrusted(verifying("localhost", server, "system"), "PKIX path building failed: ");
      assertDistrusted(verifying("localhost", server, otherRoot), "PKIX path validation failed: ");
      assertDistrusted(
          verifying("127.0.0.1", server, root), "The hostname 127.0.0.1 could not be ");
    }
  }

  private static String client(Path chain, Path key) {
    return "&sslcert=" + chain + "&sslkey=" + key;
  }

  private static byte[] encoded(TestCertificate certificate) {
    return certificate.files().getKeyPair().getPrivate().getEncoded();
  }

  /** Returns the option of a JVM whose authorities are those of the certificate. */
  private static String trustStore(TestCertificate certificate, Path folder) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setCertificateEntry("root", certificate.files().getRootCertificate());
    Path file = folder.resolve("authorities.p12");
    try (OutputStream output = Files.newOutputStream(file)) {
      store.store(output, "changeit".toCharArray());
    }
    return "-Djavax.net.ssl.trustStorePassword=changeit -Djavax.net.ssl.trustStore=" + file;
  }

  private static void assertServedWith(String javaOptions, Map<String, String> environment) {
    environment.put("JDK_JAVA_OPTIONS", javaOptions);
    try (ServiceProcess service = new ServiceProcess(environment)) {
      service.awaitReady();
    }
  }

  /**
   * A firewall forgets connections that are idle for minutes; the next create must not meet one.
   */
  @Test
  void no_connection_is_idle_for_a_minute() throws Exception {
    Database database = Database.create();
    try (ServiceProcess service = new ServiceProcess(database.environment()).awaitReady()) {
      Stream.iterate(1, id -> id + 1)
          .limit(200)
          .map(id -> service.beginCreate("{\"id\":" + id + ",\"name\":\"fern\"}"))
          .toList()
          .forEach(create -> assertEquals(200, create.join().statusCode()));
      String ofService =
          " FROM pg_stat_activity WHERE application_name = 'plant-store' AND datname = '";
      String now = database.single("SELECT now()");
      Await.until(
          "a quiet minute has passed without one that is idle",
          () ->
              database
                  .single(
                      "SELECT now() - '%s' > interval '45 s'".formatted(now)
                          + " AND max(now() - state_change) < interval '44 s'"
                          + ofService
                          + database.name()
                          + "'")
                  .equals("t"));
    }
  }

  private static Map<String, String> verifying(String host, DatabaseServer server, String root) {
    String path = "/postgres?sslmode=verify-full&sslrootcert=" + root;
    return Database.environment("jdbc:postgresql://" + host + ":" + server.port() + path);
  }

  private static void assertDistrusted(Map<String, String> environment, String reason) {
    assertRefused(
        environment,
        "the database cannot be used; check its certificate, and the host and the parameters in"
            + " DATABASE_URL: .*"
            + reason
            + ".*");
  }

  @Test
  void start_on_the_last_of_three_hosts_does_not_need_the_others() throws Exception {
    Database database = Database.create();
    try (ServerSocket silent = new ServerSocket(0)) {
      String others =
          "//localhost:" + ServiceProcess.freePort() + ",localhost:" + silent.getLocalPort() + ",";
      Map<String, String> environment = database.environment();
      environment.compute("DATABASE_URL", (name, url) -> url.replace("//", others));
      environment.merge("DATABASE_URL", "?sslmode=disable", String::concat);
      StartTest.start(environment);
    }
  }

  @Test
  void start_gives_up_while_its_tables_are_locked() throws Exception {
    Database database = Database.create();
    StartTest.start(database.environment()); // makes the tables
    try (Connection locker = database.lock("flyway_schema_history")) {
      assertRefused(
          database.environment(IMPATIENCE),
          "the tables of the database cannot be brought up to date: canceling statement due to"
              + " lock timeout \\(SQLSTATE 55P03\\)");
      locker.rollback();
    }
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
