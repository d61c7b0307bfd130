package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/** The database, the tokens and the running services that subjects share. */
final class Testbed implements AutoCloseable {

  private static final String SCRIPT = "plant-store";
  private static final String JAR = "plant-app.jar";

  private final Path target;
  private final Path log;
  private final PrintStream console =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);
  private final Database database;
  private final Database databaseOfOtherBuild;
  private final @Nullable Database otherDatabase;
  private final Tokens tokens = Tokens.generate();
  private final Map<String, String> certificate = new HashMap<>();
  private final Map<Variant, Service> services = new EnumMap<>(Variant.class);

  /**
   * Starts the database.
   *
   * @param target the folder of the packaged service
   * @param log the file for all output
   */
  Testbed(Path target, Path log, long largeTableRows) throws IOException, SQLException {
    this.target = target;
    this.log = Files.write(log, new byte[0]);
    this.database = Database.start(target, largeTableRows);
    this.databaseOfOtherBuild = database.createBeside("other_build");
    String url = System.getProperty("bench.database", "");
    this.otherDatabase = url.isEmpty() ? null : Database.at(url);
  }

  void log(String text) throws IOException {
    console.println(text);
    Files.writeString(log, text + System.lineSeparator(), StandardOpenOption.APPEND);
  }

  Database database(Variant variant) {
    return switch (variant) {
      case OTHER_BUILD -> databaseOfOtherBuild;
      case OTHER_DATABASE -> Objects.requireNonNull(otherDatabase);
      default -> database;
    };
  }

  String token(Algorithm algorithm) {
    return tokens.sign(algorithm);
  }

  /** Returns the running service of this variant; starts it if necessary. */
  Service service(Variant variant) throws IOException, InterruptedException {
    Service service = services.get(variant);
    if (service == null) {
      service = start(variant);
      services.put(variant, service);
    }
    return service;
  }

  /** Starts a service, which the caller stops. */
  Service start(Variant variant) throws IOException, InterruptedException {
    Path folder =
        switch (variant) {
          case OTHER_BUILD -> folderOfOtherBuild();
          case ONE_INSERT ->
              folderOf(
                  "org.plantstore.app.Main",
                  target.resolve(JAR) + File.pathSeparator + Program.classes());
          case ECHO -> folderOf(Echo.class.getName(), System.getProperty("java.class.path"));
          default -> target;
        };
    Algorithm algorithm = variant == Variant.KEY_SET ? Algorithm.RS256 : Algorithm.HS256;
    return Service.start(folder.resolve(SCRIPT), environment(variant), token(algorithm));
  }

  private Map<String, String> environment(Variant variant) throws IOException {
    Map<String, String> environment = new HashMap<>();
    environment.put("DATABASE_URL", database(variant).url());
    environment.put("DATABASE_USERNAME", database(variant).username());
    environment.put("DATABASE_PASSWORD", database(variant).password());
    environment.put("DRAIN_SECONDS", "0");
    if (variant == Variant.KEY_SET) {
      environment.put("JWT_JWKS_URL", tokens.keySetUrl());
    } else {
      environment.put("JWT_SECRET", tokens.secret());
    }
    switch (variant) {
      case PACKAGED, KEY_SET -> {}
      case TEXT_LOG -> environment.put("ACCESS_LOG", "on");
      case JSON_LOG -> environment.putAll(Map.of("ACCESS_LOG", "on", "LOG_FORMAT", "json"));
      case TLS -> environment.putAll(certificate());
      case REQUIRING_CACHE -> environment.put("JAVA_OPTS", "-XX:AOTMode=on");
      case WITHOUT_CACHE, OTHER_BUILD, OTHER_DATABASE, ONE_INSERT, ECHO ->
          environment.put("PLANT_STORE_AOT", "off");
    }
    return environment;
  }

  /** Returns the settings of a service with a certificate that this process trusts from now on. */
  private Map<String, String> certificate() throws IOException {
    if (!certificate.isEmpty()) {
      return certificate;
    }
    try {
      X509Bundle bundle =
          new CertificateBuilder()
              .ecp256()
              .subject("CN=localhost")
              .addSanDnsName("localhost")
              .setIsCertificateAuthority(true)
              .buildSelfSigned();
      SSLContext trust = SSLContext.getInstance("TLS");
      trust.init(null, new TrustManager[] {bundle.toTrustManager()}, null);
      SSLContext.setDefault(trust);
      certificate.put("TLS_CERTIFICATE", bundle.toTempCertChainPem().toString());
      certificate.put("TLS_KEY", bundle.toTempPrivateKeyPem().toString());
      return certificate;
    } catch (Exception e) {
      throw new IOException("the certificate cannot be made", e);
    }
  }

  /** Puts the start script of this build next to the other jar, so both get the same options. */
  private Path folderOfOtherBuild() throws IOException {
    Path folder = folder("benchmark-other");
    Files.copy(
        Path.of(System.getProperty("bench.other")),
        folder.resolve(JAR),
        StandardCopyOption.REPLACE_EXISTING);
    return folder;
  }

  /** Makes the start script start another program, as in an image. */
  private Path folderOf(String mainClass, String classPath) throws IOException {
    Path folder = folder("benchmark-" + mainClass);
    Files.writeString(folder.resolve("jib-main-class-file"), mainClass);
    Files.writeString(folder.resolve("jib-classpath-file"), classPath);
    return folder;
  }

  private Path folder(String name) throws IOException {
    Path folder = Files.createDirectories(target.resolve(name));
    Files.copy(
        target.resolve(SCRIPT),
        folder.resolve(SCRIPT),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.COPY_ATTRIBUTES);
    return folder;
  }

  /** Stops all services and deletes their data. */
  void clear() throws SQLException {
    services.values().forEach(Service::close);
    if (services.containsKey(Variant.OTHER_DATABASE)) {
      database(Variant.OTHER_DATABASE).deletePlants();
    }
    services.clear();
    database.dropLargeTable();
  }

  @Override
  public void close() throws IOException, SQLException {
    clear();
    tokens.close();
    database.close();
  }
}
