package org.plantstore.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.HashMap;
import java.util.Map;
import javax.net.SocketFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Where the service listens, and what it tells of itself. */
@Execution(ExecutionMode.CONCURRENT)
class ListenTest {

  private static final String API = "127.0.0.1";
  private static final String MANAGEMENT = "127.0.0.2";

  @Test
  @Tag("newest")
  @Tag("slow")
  void each_port_has_an_address_of_its_own_also_with_tls() throws Exception {
    TestCertificate certificate = TestCertificate.issue();
    Map<String, String> settings = new HashMap<>(certificate.settings());
    settings.put("LISTEN_ADDRESS", API);
    settings.put("MANAGEMENT_ADDRESS", MANAGEMENT);
    settings.put("LOG_LEVEL", "warn");
    settings.put("DRAIN_SECONDS", "0");
    Map<String, String> environment = Database.create().environment(settings);
    try (ServiceProcess service = new ServiceProcess(environment)) {
      URI management = URI.create("http://" + MANAGEMENT + ":" + service.managementPort);
      HttpRequest.Builder readiness =
          HttpRequest.newBuilder(management.resolve("/health/readiness"));
      Await.success(
          "readiness", () -> assertEquals(200, ServiceProcess.send(readiness).statusCode()));

      SocketFactory tls = certificate.sockets();
      try (Socket api = tls.createSocket(API, service.port)) {
        api.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(US_ASCII));
        assertTrue(
            new String(api.getInputStream().readAllBytes(), US_ASCII).startsWith("HTTP/1.0 200 "));
      }
      assertThrows(ConnectException.class, () -> tls.createSocket(MANAGEMENT, service.port));
      assertThrows(ConnectException.class, () -> tls.createSocket(API, service.managementPort));
      assertEquals(ServiceProcess.TERMINATED, service.stop());
      assertEquals("", service.output(), "lines below LOG_LEVEL");
    }
  }

  @Test
  void address_of_another_machine_and_port_that_is_in_use_end_the_start() throws Exception {
    Map<String, String> environment = Database.create().environment();
    environment.put("LISTEN_ADDRESS", "198.51.100.1");
    assertEndsWith(environment, "198\\.51\\.100\\.1:\\d+: .*Cannot assign requested address");
    environment.remove("LISTEN_ADDRESS");
    try (ServerSocket taken = new ServerSocket(0)) {
      environment.put("MANAGEMENT_PORT", String.valueOf(taken.getLocalPort()));
      assertEndsWith(environment, ":" + taken.getLocalPort() + ": .*Address already in use");
    }
  }

  private static void assertEndsWith(Map<String, String> environment, String reason) {
    try (ServiceProcess service = new ServiceProcess(environment)) {
      assertEquals(1, service.awaitExit());
      String errors = service.errors();
      assertTrue(
          errors.matches(
              "plant-store does not start: PORT and MANAGEMENT_PORT must be free ports, .*"
                  + reason
                  + "\n"),
          errors);
      assertEquals(0, service.linesWith("ERROR"), service::output);
    }
  }

  @Test
  void first_line_and_a_metric_tell_what_runs() {
    ServiceProcess service = ServiceProcess.shared();
    String first = service.output().lines().findFirst().orElseThrow();
    String version = Version.text();
    String start = " - plant-store " + version + " starts on Java " + Runtime.version();
    String ports =
        ": port %s of 0.0.0.0, management port %s of 0.0.0.0"
            .formatted(service.port, service.managementPort);
    String told = start + ports + ", store PostgresPlantStore, keys of JWT_SECRET";
    assertTrue(first.endsWith(told), first);
    String labels =
        "{commit=\"%s\",store=\"PostgresPlantStore\",version=\"%s\"}"
            .formatted(version.replaceFirst(".*\\+", ""), version.replaceFirst("\\+.*", ""));
    assertTrue(service.metrics().contains("plant_store_info" + labels + " 1"), service::metrics);
  }
}
