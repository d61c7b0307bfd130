package org.plantstore.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.client.ScriptedService.CLOSE;
import static org.plantstore.client.ScriptedService.SILENCE;
import static org.plantstore.client.ScriptedService.response;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

@Tag("newest")
@Timeout(60)
class PlantClientTest {

  private static final NewPlant FERN = new NewPlant(7, "fern \"\u0001\uD83C\uDF3F", "shade");
  private static final String CREATED =
      response(200, "{\"name\":\"fern \\\"\\u0001\uD83C\uDF3F\",\"tag\":\"shade\"}");
  private static final Duration LONG = Duration.ofMinutes(5);

  private final AtomicInteger supplied = new AtomicInteger();
  @AutoClose private final ScriptedService service = new ScriptedService();

  private PlantClient.Builder builder(String... script) {
    service.script.addAll(List.of(script));
    return PlantClient.builder(service.address(), () -> "token-" + supplied.incrementAndGet());
  }

  private PlantClient client(String... script) {
    return builder(script).deadline(LONG).build();
  }

  @Test
  void request_is_that_of_the_interface() {
    PlantClient client =
        PlantClient.builder(URI.create(client(CREATED, CREATED).plants + "/a/"), () -> "a.b-c_d=")
            .headers(() -> Map.of("traceparent", "00-1-2-01", "X-Request-Id", "order-1"))
            .build();

    assertEquals(FERN.plant(), client.create(FERN));

    String request = service.requests.get(0);
    assertTrue(request.startsWith("POST /plants/a/plants HTTP/1.1\r\n"), request);
    assertTrue(request.contains("\r\nAuthorization: Bearer a.b-c_d=\r\n"), request);
    assertTrue(request.contains("\r\nContent-Type: application/json\r\n"), request);
    assertTrue(request.contains("\r\ntraceparent: 00-1-2-01\r\n"), request);
    assertTrue(request.contains("\r\nX-Request-Id: order-1\r\n"), request);
    assertFalse(request.contains("Upgrade"), request);
    String body = "{\"id\":7,\"name\":\"fern \\\"\\u0001\uD83C\uDF3F\",\"tag\":\"shade\"}";
    assertTrue(request.endsWith("\r\n\r\n" + body), request);
  }

  @Test
  void plant_without_a_tag_is_sent_without_one() {
    NewPlant moss = new NewPlant(Long.MIN_VALUE, "", null);
    assertEquals(new Plant("", null), client(response(200, "{\"name\":\"\"}")).create(moss));
    String request = service.requests.get(0);
    assertTrue(request.endsWith("{\"id\":-9223372036854775808,\"name\":\"\"}"), request);
  }

  /** Each may pass, and the service may have created the plant. */
  @ParameterizedTest
  @ValueSource(ints = {408, 425, 429, 500, 502, 503, 504, 530})
  void attempt_is_repeated_while_the_service_is_unavailable(int status) {
    String error = "{\"error\":5003,\"message\":\"Too much.\"}";
    PlantClient client =
        client(response(status, error), CLOSE, response(status, "<html>"), CLOSE, CREATED);
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(5, service.requests.size());
    assertEquals(
        1,
        service.requests.stream()
            .map(request -> request.replaceFirst("X-Request-Id: \\S+\r\n", ""))
            .distinct()
            .count());
    assertEquals(1, supplied.get());
  }

  @Test
  void response_that_does_not_come_or_is_cut_is_given_up_and_asked_for_again() {
    String cut = CREATED.substring(0, CREATED.length() - 1);
    PlantClient client = builder(SILENCE, cut, CREATED).deadline(Duration.ofSeconds(9)).build();
    long start = System.nanoTime();
    assertEquals(FERN.plant(), client.create(FERN));
    assertTrue(System.nanoTime() - start >= Duration.ofSeconds(3 + 3).toNanos());
    assertEquals(3, service.requests.size());
    await(() -> service.connections.size() == 1);
  }

  @Test
  void refused_connections_are_retried_until_the_deadline() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    PlantClient client =
        PlantClient.builder(URI.create("http://localhost:" + port), () -> "token")
            .deadline(Duration.ofSeconds(3))
            .build();
    PlantStoreUnavailableException unavailable =
        assertThrows(PlantStoreUnavailableException.class, () -> client.create(FERN));
    String message = String.valueOf(unavailable.getMessage());
    assertTrue(
        message.matches(".*after attempt \\d+: (Connection refused|the connection failed)"),
        message);
    assertNull(unavailable.getCause());
  }

  @Test
  void retry_after_is_the_least_wait_and_ends_a_call_that_cannot_wait_so_long() {
    PlantClient client =
        builder(response(503, "{}", "Retry-After: 1"), CREATED, response(503, "", "Retry-After: 9"))
            .deadline(Duration.ofSeconds(9))
            .build();
    long start = System.nanoTime();
    assertEquals(FERN.plant(), client.create(FERN));
    assertTrue(System.nanoTime() - start >= Duration.ofSeconds(1).toNanos());
    assertThrows(PlantStoreUnavailableException.class, () -> client.create(FERN));
    assertEquals(3, service.requests.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"error\":3001}", ""})
  void response_of_another_request_is_dropped_with_its_connection(String body) {
    PlantClient client = client(CREATED);
    assertEquals(FERN.plant(), client.create(FERN));
    String id = service.requests.get(0).replaceFirst("(?s).*X-Request-Id: (\\S+).*", "$1");
    service.script.add(response(400, body, "X-Request-Id: " + id));
    service.script.add(CREATED);
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(3, service.requests.size());
    await(() -> service.connections.size() == 1);
  }

  @Test
  void response_that_is_too_large_is_not_kept_in_memory() {
    String body = " ".repeat(1 << 20) + "{\"error\":3001}";
    UnexpectedResponseException unexpected =
        assertThrows(
            UnexpectedResponseException.class, () -> client(response(400, body)).create(FERN));
    assertTrue(String.valueOf(unexpected.getMessage()).endsWith("the response is too large"));
  }

  @Test
  void service_of_another_protocol_is_unexpected() {
    UnexpectedResponseException unexpected =
        assertThrows(
            UnexpectedResponseException.class,
            () -> client("SSH-2.0 Bearer token-1\r\n\r\n").create(FERN));
    assertEquals(0, unexpected.status());
    assertFalse(String.valueOf(unexpected.getMessage()).contains("token-1"));
  }

  @Test
  void proxy_that_refuses_the_connection_is_unexpected() {
    service.script.add(response(407, "", "Proxy-Authenticate: Basic realm=\"any\""));
    InetSocketAddress proxy = new InetSocketAddress("localhost", service.address().getPort());
    PlantClient client =
        PlantClient.builder(URI.create("https://plants.example"), () -> "token")
            .httpClient(HttpClient.newBuilder().proxy(ProxySelector.of(proxy)).build())
            .build();
    assertThrows(UnexpectedResponseException.class, () -> client.create(FERN));
  }

  @Test
  void taken_id_is_refused() {
    PlantClient client = client(response(400, "{\"error\":3001,\"message\":\"Taken.\"}"));
    assertEquals(7, assertThrows(PlantIdTakenException.class, () -> client.create(FERN)).id());
  }

  @ParameterizedTest
  @CsvSource({"2001, a, id", "2002, a, name", "2003, a, tag", "1005, a, name", "1005,, name"})
  void plant_that_the_service_refuses_is_invalid(int error, @Nullable String tag, String field) {
    String body = "{\"error\":" + error + ",\"message\":\"Not here.\"}";
    PlantClient client = client(response(400, body));
    InvalidPlantException invalid =
        assertThrows(InvalidPlantException.class, () -> client.create(new NewPlant(1, "oak", tag)));
    String message = String.valueOf(invalid.getMessage());
    assertTrue(message.matches(field + " is refused: .* " + error + ": Not here\\."), message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | <html>login</html> | 0",
        "200 | {\"name\":\"moss\",\"tag\":\"shade\"} | 0",
        "201 | {} | 0",
        "302 | | 0",
        "400 | {\"error\":1001,\"message\":\"Not token-1.\"} | 1001",
        "200 | {\"error\":3001,\"message\":\"Taken.\"} | 3001",
        "404 | {\"error\":\"not_found\",\"message\":null} | 0",
        "404 | {\"error\":4003,\"message\":\"Nothing.\"} | 4003",
        "404 | {\"error\":40030000000,\"message\":\"Nothing.\"} | 0",
        "403 | {\"error\":4006,\"message\":\"A claim.\"} | 4006",
        "413 | <html>too large</html> | 0",
      })
  void other_responses_are_unexpected(int status, String body, int error) {
    PlantClient client =
        client(response(status, body == null ? "" : body, "X-Request-Id: abc", "Location: /"));
    UnexpectedResponseException unexpected =
        assertThrows(UnexpectedResponseException.class, () -> client.create(FERN));
    assertEquals(status, unexpected.status());
    assertEquals(error, unexpected.error());
    assertEquals(Optional.of("abc"), unexpected.requestId());
    String message = String.valueOf(unexpected.getMessage());
    assertTrue(
        String.valueOf(body).contains("token-1")
            ? message.endsWith("it sends the token back")
            : message.contains("sent status " + status + ", request abc, "),
        message);
    assertNull(unexpected.getCause());
    assertEquals(1, service.requests.size());
  }

  /** Also a gateway may refuse it. */
  @ParameterizedTest
  @ValueSource(strings = {"{\"error\":4002,\"message\":\"Not valid.\"}", ""})
  void token_is_supplied_once_in_a_call_and_again_if_it_is_refused(String body) {
    String refused = response(401, body);
    PlantClient client =
        client(CREATED, refused, response(503, ""), CREATED, refused, refused, CREATED);
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(3, supplied.get());
    assertTrue(service.requests.get(3).contains("Bearer token-3"));
    UnexpectedResponseException unexpected =
        assertThrows(UnexpectedResponseException.class, () -> client.create(FERN));
    assertEquals(401, unexpected.status());
    assertEquals(5, supplied.get());
  }

  @Test
  void suppliers_are_asked_on_the_thread_of_the_caller() {
    ThreadLocal<String> user = new ThreadLocal<>();
    user.set("ann");
    PlantClient client =
        PlantClient.builder(client(CREATED).plants.resolve("/"), () -> user.get())
            .headers(() -> Map.of("traceparent", user.get()))
            .build();
    CompletionStage<Plant> creation = client.createAsync(FERN, task -> new Thread(task).start());
    assertEquals(FERN.plant(), creation.toCompletableFuture().join());
    String request = service.requests.get(0);
    assertTrue(request.contains("Bearer ann\r\n") && request.contains(": ann\r\n"), request);
  }

  @Test
  void failure_of_a_supplier_is_thrown_as_it_is() {
    RuntimeException failure = new IllegalStateException("any");
    PlantClient client =
        PlantClient.builder(
                service.address(),
                () -> {
                  throw failure;
                })
            .build();
    assertSame(failure, assertThrows(RuntimeException.class, () -> client.create(FERN)));
    CompletionStage<Plant> creation = client.createAsync(FERN, Runnable::run);
    assertSame(failure, creation.handle((created, thrown) -> thrown).toCompletableFuture().join());
  }

  @Test
  void token_that_no_header_can_have_is_refused() {
    Queue<String> tokens = new ArrayDeque<>(List.of("", "a b", "a\n"));
    PlantClient client = PlantClient.builder(service.address(), tokens::remove).build();
    while (!tokens.isEmpty()) {
      assertThrows(IllegalArgumentException.class, () -> client.create(FERN));
    }
  }

  @Test
  void interrupted_thread_leaves_no_attempt_running() {
    PlantClient client = client(SILENCE);
    Thread caller = Thread.currentThread();
    CompletableFuture<Void> interrupt =
        CompletableFuture.runAsync(() -> {
          await(() -> service.requests.size() == 1);
          caller.interrupt();
        });
    assertThrows(PlantStoreUnavailableException.class, () -> client.create(FERN));
    assertTrue(Thread.interrupted());
    interrupt.join();
    await(service.connections::isEmpty);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://host",
        "/plants",
        "http:///plants",
        "http://user@host",
        "http://host?a",
        "http://host/#a",
        "mailto:a@b",
        "http://key_cloak:8080"
      })
  void invalid_address_is_refused(String address) {
    assertThrows(
        IllegalArgumentException.class,
        () -> PlantClient.builder(URI.create(address), () -> "token"));
  }

  @Test
  void settings_out_of_range_are_refused() {
    PlantClient.Builder builder = builder();
    for (Duration deadline :
        List.of(
            Duration.ZERO,
            Duration.ofSeconds(Long.MIN_VALUE),
            Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThrows(IllegalArgumentException.class, () -> builder.deadline(deadline));
    }
    HttpClient following =
        HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    assertThrows(IllegalArgumentException.class, () -> builder.httpClient(following));
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(1_000_000);
    }
  }
}
