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

/** The services of a run, and the server of their databases. */
final class Testbed implements AutoCloseable {

  private static final Path TARGET = Program.CLASSES.resolve("../..").normalize();

  /** The absolute path of the packaged service. */
  static final String JAR = TARGET.resolve("plant-app.jar").toString();

  private static final Path SCRIPT = TARGET.resolve("plant-store");

  /** The settings of each service. */
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
   * Starts a service by the start script of this build, so that all have the same options of Java.
   *
   * @param settings settings that other services do not have
   * @param classPath the absolute paths of the service's jar and of what is added to it
   */
  Service start(String name, Map<String, String> settings, String classPath)
      throws IOException, SQLException {
    Path folder = Files.createDirectories(TARGET.resolve("bench/services").resolve(name));
    Path script = folder.resolve(SCRIPT.getFileName());
    Files.copy(SCRIPT, script, StandardCopyOption.REPLACE_EXISTING);
    // The script reads these files in an image.
    Files.writeString(folder.resolve("jib-main-class-file"), "org.plantstore.app.Main");
    Files.writeString(folder.resolve("jib-classpath-file"), '"' + classPath + '"');
    Map<String, String> all = new HashMap<>(SETTINGS);
    all.putAll(settings);
    Service service = Service.start(name, script, all, token, Database.create(server, name));
    services.add(service);
    return service;
  }

  /** Returns the settings of TLS with a new certificate. */
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
