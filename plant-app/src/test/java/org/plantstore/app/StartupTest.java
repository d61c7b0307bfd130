package org.plantstore.app;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextConfiguration;
import io.micronaut.context.annotation.Requires;
import io.micronaut.context.env.PropertySource;
import io.micronaut.context.env.PropertySource.Origin;
import io.micronaut.context.env.PropertySource.PropertyConvention;
import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.runtime.EmbeddedApplication;
import io.micronaut.runtime.server.event.ServerStartupEvent;
import jakarta.inject.Singleton;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.client.PlantClient;
import org.plantstore.client.UnexpectedResponseException;
import org.plantstore.domain.NewPlant;
import org.plantstore.fixture.DatabaseServer;
import org.plantstore.fixture.TestCertificate;

/** Startup either logs what runs or fails with one line that says what to change. */
class StartupTest {

  private static final Map<String, String> COMPLETE =
      Map.of(
          "DATABASE_URL", "jdbc:postgresql://localhost:1/plants",
          "DATABASE_USERNAME", "plants",
          "DATABASE_PASSWORD", "canary-password",
          "JWT_SECRET", "canary-secret-of-32-bytes-or-more",
          "DATABASE_START_TIMEOUT_SECONDS", "0");

  private static final String ILLEGIBLE =
      " must not begin or end with a space or contain a control character, but contains ";

  private static final String UNUSABLE =
      " must be an IP address of this machine, or a host name that resolves to one, without a port"
          + " or a scheme, but is ";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          PORT              | http | PORT must be a port from 1 to 65535, but is "http"
          TLS_KEY           | /tls.key | TLS_CERTIFICATE and TLS_KEY must be set together, but TLS_CERTIFICATE is not set
          DRAIN_SECONDS     | -1 | DRAIN_SECONDS must be a whole number from 0 to 9999, but is "-1"
          LOG_LEVEL         | WARN | LOG_LEVEL must be debug, info, or warn, but is "WARN"
          LISTEN_ADDRESS    | '' | LISTEN_ADDRESS must not be empty; set a value or remove it
          DATABASE_USERNAME | '\tplants' | DATABASE_USERNAME ILLEGIBLE CHARACTER TABULATION
          JWT_SECRET        | '"canary-secret-of-32-bytes-or-more"' | JWT_SECRET must not be enclosed in quotation marks; remove them
          JWT_SECRET        | '\u201ccanary-secret-of-32-bytes-or-more\u201d' | JWT_SECRET must not be enclosed in quotation marks; remove them
          LISTEN_ADDRESS    | 0.0.0.0:8080 | LISTEN_ADDRESS UNUSABLE "0.0.0.0:8080": it does not resolve
          LISTEN_ADDRESS    | http://0.0.0.0 | LISTEN_ADDRESS UNUSABLE "http://0.0.0.0": it does not resolve
          LISTEN_ADDRESS    | no.such.host.invalid | LISTEN_ADDRESS UNUSABLE "no.such.host.invalid": it does not resolve
          LISTEN_ADDRESS    | 8080 | LISTEN_ADDRESS UNUSABLE "8080": Cannot assign requested address
          MANAGEMENT_ADDRESS | 198.51.100.1 | MANAGEMENT_ADDRESS UNUSABLE "198.51.100.1": Cannot assign requested address
          MANAGEMENT_PORT   | '18\u001b[31m081' | MANAGEMENT_PORT ILLEGIBLE ESCAPE
          MANAGEMENT_PORT   | 18080 | PORT and MANAGEMENT_PORT must differ, but both are 18080
          """)
  void unusable_setting_is_refused_with_the_rule_that_it_breaks(
      String variable, String value, String message) {
    Map<String, String> variables = new HashMap<>(COMPLETE);
    variables.put("PORT", "18080");
    variables.put(variable, value);
    assertEquals(
        message.replace(" ILLEGIBLE ", ILLEGIBLE).replace(" UNUSABLE ", UNUSABLE),
        refusal(variables));
  }

  static String refusal(Map<String, String> variables) {
    return Main.reasonFor(assertThrows(Exception.class, () -> start(variables)));
  }

  /** Starts the service in this process, as {@link Main} does, and stops it again. */
  static void start(Map<String, String> settings) {
    Map<String, Object> variables = new HashMap<>(settings);
    for (String port : List.of("PORT", "MANAGEMENT_PORT")) {
      variables.computeIfAbsent(port, unset -> String.valueOf(DatabaseServer.freePort()));
    }
    LegibleSettings.requireLogging(settings);
    LegibleSettings.require(settings);
    PropertySource environment =
        PropertySource.of(
            "environment",
            variables,
            PropertyConvention.ENVIRONMENT_VARIABLE,
            Origin.of("environment"));
    try (ApplicationContext context =
        ApplicationContext.builder()
            .environmentPropertySource(false)
            .propertySources(environment)
            .start()) {
      context.getBean(EmbeddedApplication.class).start();
    }
  }

  /** A secret could be guessed if each of its bytes were replaced with the same character. */
  @Test
  @Tag("newest")
  void bytes_that_the_locale_cannot_decode_are_refused() {
    ProcessBuilder java = ServiceProcess.java(List.of());
    String bytes = "\\303\\244-secret-of-32-bytes-or-more-canary";
    String set = "export JWT_SECRET=$(printf '" + bytes + "'); exec \"$@\"";
    java.command().addAll(0, List.of("/bin/sh", "-c", set, "sh"));
    assertEquals(
        "JWT_SECRET contains bytes that cannot be decoded reliably with the locale's charset,"
            + " ANSI_X3.4-1968; encode the value in UTF-8, and set LC_ALL=C.UTF-8",
        refusalOf(java, Map.of("LC_ALL", "C")));
  }

  @ParameterizedTest
  @CsvSource({
    "secret, ANSI_X3.4-1968, Linux, true",
    "s\u00e9cret, ANSI_X3.4-1968, Linux, false",
    "s\u00e9cret, UTF-8, Linux, true",
    "s\uFFFDcret, UTF-8, Linux, false",
    "s\u00e9cret, Cp1252, Windows 11, true"
  })
  void setting_that_is_not_ascii_must_be_utf_8_except_on_windows(
      String value, String charset, String system, boolean isExact) {
    assertEquals(isExact, LegibleSettings.isDecodedExactly(value, charset, system));
  }

  @Test
  @Tag("newest")
  void body_limit_above_its_share_of_the_heap_is_refused() {
    // With other collectors, the JVM reports a maximum that is smaller than -Xmx.
    ProcessBuilder java =
        ServiceProcess.java(
            List.of("--max-body-bytes=2097153"), "-Xmx64m", "-XX:-UseSerialGC", "-XX:+UseG1GC");
    assertEquals(
        "MAX_BODY_BYTES must be at most 2097152, but is 2097153; lower it, or increase the heap"
            + " (-Xmx)",
        refusalOf(java, Map.of("MAX_BODY_BYTES", "1")));
  }

  /** Returns why a process does not start. The process must print the reason on one line. */
  private static String refusalOf(ProcessBuilder java, Map<String, String> others) {
    Map<String, String> environment = new HashMap<>(COMPLETE);
    environment.putAll(others);
    try (ServiceProcess service = new ServiceProcess(java, environment)) {
      assertEquals(1, service.awaitExit());
      assertEquals(List.of(), service.lines("ERROR"));
      String errors = service.errors();
      assertTrue(errors.matches("plant-store cannot start: .*\n"), errors);
      return errors.strip().replaceFirst("plant-store cannot start: ", "");
    }
  }

  @Test
  void declared_variables_are_exactly_the_documented_ones() {
    Set<String> documented = new HashSet<>(ProjectFiles.documentedDefaults().keySet());
    // Only the start script reads these.
    documented.removeAll(Set.of("JAVA_HOME", "JAVA_OPTS", "PLANT_STORE_AOT"));
    ApplicationContextConfiguration declared =
        (ApplicationContextConfiguration) ApplicationContext.builder();
    assertEquals(documented, Set.copyOf(requireNonNull(declared.getEnvironmentVariableIncludes())));
  }

  @Test
  void first_log_line_and_a_metric_describe_what_runs() {
    ServiceProcess service = ServiceProcess.shared();
    String first = service.output().lines().findFirst().orElseThrow();
    String version = Version.text();
    String expected =
        (" - plant-store " + version + " is starting on Java " + Runtime.version())
            + (": port " + service.port + " on 0.0.0.0, management port " + service.managementPort)
            + " on 0.0.0.0, store PostgresPlantStore, keys from JWT_SECRET";
    assertTrue(first.endsWith(expected), first);
    String line = service.awaitLine("Startup completed");
    assertTrue(line.matches("[-0-9T:.]+Z INFO  \\[main] org\\.plantstore\\.app\\.Main - .*"), line);
    assertEquals(List.of(), service.lines("org.plantstore.access"));
    String series =
        ("plant_store_info{commit=\"" + version.replaceFirst(".*\\+", ""))
            + ("\",store=\"PostgresPlantStore\",version=\"" + version.replaceFirst("\\+.*", ""))
            + "\"} 1";
    assertTrue(service.metrics().contains(series), service::metrics);
  }

  @Test
  @Tag("newest")
  @Tag("slow")
  void each_port_has_its_own_address_and_api_clients_must_trust_the_certificate() throws Exception {
    String api = "127.0.0.1";
    String management = "127.0.0.2";
    Map<String, String> environment =
        Database.create()
            .environment(
                "LISTEN_ADDRESS", api, "MANAGEMENT_ADDRESS", management, "LOG_LEVEL", "warn");
    environment.putAll(TestCertificate.settings("TLS_CERTIFICATE", "TLS_KEY"));
    try (ServiceProcess service = new ServiceProcess(environment)) {
      String probe = "http://" + management + ":" + service.managementPort + "/health/readiness";
      HttpRequest.Builder readiness = HttpRequest.newBuilder(URI.create(probe));
      Await.until(() -> assertEquals(200, ServiceProcess.send(readiness).statusCode()));

      NewPlant fern = new NewPlant(1, "fern", null);
      URI https = URI.create("https://localhost:" + service.port);
      PlantClient.Builder client = PlantClient.builder(https, ServiceProcess::token);
      assertThrows(UnexpectedResponseException.class, () -> client.build().create(fern));
      HttpClient trusting = HttpClient.newBuilder().sslContext(TestCertificate.TRUST).build();
      assertEquals(fern.plant(), client.httpClient(trusting).build().create(fern));

      assertThrows(ConnectException.class, () -> new Socket(management, service.port));
      assertThrows(ConnectException.class, () -> new Socket(api, service.managementPort));
      assertEquals(ServiceProcess.TERMINATED, service.stop());
      assertEquals("", service.output(), "must log no line below LOG_LEVEL");
    }
  }

  @Test
  void startup_fails_if_a_port_is_in_use() throws Exception {
    Map<String, String> environment = Database.create().environment();
    try (ServerSocket taken = new ServerSocket(0)) {
      environment.put("MANAGEMENT_PORT", String.valueOf(taken.getLocalPort()));
      String refusal = refusalOf(ServiceProcess.java(List.of()), environment);
      String reason = ".*:" + taken.getLocalPort() + ": .*Address already in use";
      String remedy =
          "; choose unused ports that this user is allowed to open, and set PORT and"
              + " MANAGEMENT_PORT to them";
      assertTrue(refusal.matches("opening a port failed: " + reason + remedy), refusal);
    }
  }

  @Test
  void failure_of_a_startup_listener_is_not_reported_as_an_unusable_port() throws Exception {
    ProcessBuilder java = ServiceProcess.java(List.of(), "-Dlistener.fails=true");
    assertEquals(
        "java.lang.IllegalStateException: the listener failed",
        refusalOf(java, Database.create().environment()));
  }

  /** A startup listener that fails. It is a bean only if a property is set. */
  @Singleton
  @Requires(property = "listener.fails")
  static final class FailingListener implements ApplicationEventListener<ServerStartupEvent> {

    @Override
    public void onApplicationEvent(ServerStartupEvent event) {
      throw new IllegalStateException("the listener failed");
    }
  }
}
