package org.plantstore.app;

import static java.nio.file.attribute.PosixFilePermissions.asFileAttribute;
import static java.nio.file.attribute.PosixFilePermissions.fromString;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A database over TLS, and an impostor. */
@Tag("slow")
@Tag("newest")
@Execution(ExecutionMode.CONCURRENT)
class DatabaseTlsTest {

  private static final String SESSIONS =
      "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
          + " WHERE application_name = 'plant-store'";

  /** The reason of a start that does not wait. */
  private static final String TRUST =
      "the database cannot be used; check its certificate, and the host and the parameters in"
          + " DATABASE_URL: ";

  @Test
  void database_is_used_if_its_certificate_is_trusted_and_of_its_host(@TempDir Path data)
      throws Exception {
    TestCertificate certificate = TestCertificate.issue();
    String root = certificate.files().toTempRootCertPem().toString();
    String otherRoot = TestCertificate.issue().files().toTempRootCertPem().toString();
    try (DatabaseServer server = new DatabaseServer(data, 0)) {
      Files.writeString(data.resolve("server.crt"), certificate.files().getCertificatePathPEM());
      Path key =
          Files.createFile(data.resolve("server.key"), asFileAttribute(fromString("rw-------")));
      Files.writeString(key, certificate.files().getPrivateKeyPEM());
      Database database = server.database();
      database.execute(
          "ALTER SYSTEM SET ssl = on",
          "ALTER SYSTEM SET ssl_ca_file = '" + root + "'", // asks for a client's certificate
          "SELECT pg_reload_conf()");
      Await.until("TLS is on", () -> database.single("SHOW ssl").equals("on"));

      try (ServiceProcess service = new ServiceProcess(environment("localhost", database, root))) {
        assertEquals(200, service.awaitReady().create(1, "fern").statusCode());
        assertEquals("t", database.single(SESSIONS));
      }
      assertRefused("localhost", database, otherRoot, "PKIX path validation failed: ");
      assertRefused("127.0.0.1", database, root, "The hostname 127.0.0.1 could not be ");
      Path open = Files.copy(key, data.resolve("client.key"));
      Files.setPosixFilePermissions(open, fromString("rw-r--r--"));
      String client = "&sslcert=" + data.resolve("server.crt") + "&sslkey=" + open;
      assertRefused("localhost", database, root + client, "has group or world access");
    }
  }

  private static Map<String, String> environment(String host, Database database, String root) {
    String address = "jdbc:postgresql://" + host + ":" + database.port() + "/" + database.name();
    return Database.environment(address + "?sslmode=verify-full&sslrootcert=" + root);
  }

  private static void assertRefused(String host, Database database, String root, String reason) {
    String refusal = StartTest.refusal(environment(host, database, root));
    assertTrue(refusal.startsWith(TRUST), refusal);
    assertTrue(refusal.contains(reason), refusal);
  }
}
