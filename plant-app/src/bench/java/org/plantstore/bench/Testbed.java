package org.plantstore.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Runs the services of a benchmark and the PostgreSQL server that contains their databases. */
final class Testbed implements AutoCloseable {

  private static final Path TARGET = Program.CLASSES.resolve("../..").normalize();

  /** The absolute path of the packaged service's jar. */
  static final String JAR = TARGET.resolve("plant-app.jar").toString();

  private static final Path SCRIPT = TARGET.resolve("plant-store");

  /** The settings that all services share. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "JAVA_HOME", System.getProperty("java.home"),
          "JWT_SECRET", UUID.randomUUID().toString());

  private final EmbeddedPostgres server;
  private final String token;
  private final List<Service> services = new ArrayList<>();

  Testbed() throws IOException, InterruptedException {
    token = Program.run(SETTINGS, "sh", SCRIPT, "token", "--minutes=1440").strip();
    server = Database.startServer(TARGET);
  }

  /**
   * Starts a service with the start script of this build, so that all services run with the same
   * JVM options.
   *
   * @param settings additional settings of this service
   * @param classPath the absolute path of the service's jar, followed by the paths of any
   *     additional classes
   */
  Service start(String name, Map<String, String> settings, String classPath)
      throws IOException, SQLException {
    Path folder = Files.createDirectories(TARGET.resolve("bench/services").resolve(name));
    Path script = folder.resolve(SCRIPT.getFileName());
    Files.copy(SCRIPT, script, StandardCopyOption.REPLACE_EXISTING);
    // The script uses these files if they exist, as in a container image.
    Files.writeString(folder.resolve("jib-main-class-file"), "org.plantstore.app.Main");
    Files.writeString(folder.resolve("jib-classpath-file"), '"' + classPath + '"');
    Map<String, String> all = new HashMap<>(SETTINGS);
    all.putAll(settings);
    Service service = Service.start(name, script, all, token, Database.create(server, name));
    services.add(service);
    return service;
  }

  /** Creates a certificate, and returns the TLS settings that use it. */
  Map<String, String> certificate() throws IOException, InterruptedException {
    Path key = TARGET.resolve("bench/tls.key");
    Path certificate = TARGET.resolve("bench/tls.crt");
    String command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost";
    Program.run(Map.of(), command, "-keyout", key, "-out", certificate);
    return Map.of("TLS_KEY", key.toString(), "TLS_CERTIFICATE", certificate.toString());
  }

  /** Returns the services that are running. */
  List<Service> services() {
    return services;
  }

  @Override
  public void close() throws IOException {
    services.forEach(Service::stop);
    server.close();
  }
}
