package org.plantstore.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
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
  @ValueSource(ints = {502, 503, 504})
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
    CompletableFuture<Plant> creation = start(client);
    await(() -> service.requests.size() == 3);
    assertTrue(System.nanoTime() - start >= Duration.ofSeconds(3 + 3).toNanos());
    assertEquals(FERN.plant(), creation.join());
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
  @ValueSource(ints = {408, 429})
  void other_limits_of_a_proxy_permit_a_later_retry(int status) {
    PlantClient client = client(response(status, ""));
    assertThrows(PlantStoreUnavailableException.class, () -> client.create(FERN));
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
  void supplier_on_a_thread_of_the_http_client_does_not_wait_for_itself() {
    Executor single = Executors.newSingleThreadExecutor(Creation::daemon);
    HttpClient http = HttpClient.newBuilder().executor(single).build();
    HttpRequest request = HttpRequest.newBuilder(service.address()).build();
    PlantClient client =
        PlantClient.builder(
                service.address(),
                () -> http.sendAsync(request, BodyHandlers.ofString()).join().body())
            .httpClient(http)
            .deadline(Duration.ofSeconds(30))
            .build();
    service.script.addAll(
        List.of(
            response(200, "a"), response(401, "{\"error\":4002}"), response(200, "b"), CREATED));
    assertEquals(
        FERN.plant(), client.createAsync(FERN, Runnable::run).toCompletableFuture().join());
  }

  @Test
  void dependent_that_blocks_delays_no_other_call() {
    PlantClient client =
        builder(Collections.nCopies(20, SILENCE).toArray(String[]::new))
            .deadline(Duration.ofMillis(500))
            .build();
    CompletableFuture<Plant> fallback = start(client).exceptionally(failure -> client.create(FERN));
    assertThrows(PlantStoreUnavailableException.class, () -> client.create(FERN));
    assertInstanceOf(
        PlantStoreUnavailableException.class,
        assertThrows(CompletionException.class, fallback::join).getCause());
  }

  @Test
  void taken_id_is_refused() {
    PlantClient client = client(response(400, "{\"error\":3001,\"message\":\"Taken.\"}"));
    assertEquals(7, assertThrows(PlantIdTakenException.class, () -> client.create(FERN)).id());
  }

  @ParameterizedTest
  @CsvSource({"2001, id", "2002, name", "2003, tag", "1005, name"})
  void plant_that_the_service_refuses_is_invalid(int error, String field) {
    String body = "{\"error\":" + error + ",\"message\":\"Not here.\"}";
    PlantClient client = client(response(400, body));
    InvalidPlantException invalid =
        assertThrows(InvalidPlantException.class, () -> client.create(FERN));
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
        "500 | {\"error\":5001,\"message\":\"Failed.\"} | 5001",
        "500 | {\"error\":50010000000,\"message\":\"Failed.\"} | 0",
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
    assertTrue(message.contains("status " + status) && message.contains("request abc"), message);
    assertFalse(message.contains("token-1"), message);
    assertNull(unexpected.getCause());
    assertEquals(1, service.requests.size());
  }

  /** Also a gateway may refuse it. */
  @ParameterizedTest
  @CsvSource({"401, 4002", "401, 4001", "401, 0", "403, 4006"})
  void refused_token_is_replaced_once_in_a_call(int status, int error) {
    String refused =
        response(status, error == 0 ? "" : "{\"error\":" + error + ",\"message\":\"Not valid.\"}");
    PlantClient client = client(CREATED, refused, CREATED, CREATED, refused, refused);
    for (int call = 0; call < 3; call++) {
      assertEquals(FERN.plant(), client.create(FERN));
    }
    assertEquals(2, supplied.get());
    UnexpectedResponseException unexpected =
        assertThrows(UnexpectedResponseException.class, () -> client.create(FERN));
    assertEquals(error, unexpected.error());
    assertEquals(3, supplied.get());
    assertTrue(service.requests.get(5).contains("Bearer token-3"));
  }

  @Test
  void refused_token_that_is_supplied_again_is_refused_once() {
    String refused = response(401, "");
    PlantClient client =
        PlantClient.builder(
                client(refused, response(503, ""), response(503, ""), CREATED).plants.resolve("/"),
                () -> {
                  supplied.incrementAndGet();
                  return "same";
                })
            .build();
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(2, supplied.get());
  }

  static List<RuntimeException> failures() {
    return List.of(new IllegalStateException("any"), new CompletionException("any", null));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void failure_of_a_supplier_is_thrown_as_it_is(RuntimeException failure) {
    PlantClient client =
        PlantClient.builder(
                service.address(),
                () -> {
                  throw failure;
                })
            .build();
    assertSame(failure, assertThrows(RuntimeException.class, () -> client.create(FERN)));
    assertSame(failure, start(client).handle((created, thrown) -> thrown).join());
  }

  @Test
  @SuppressWarnings("NullAway") // a supplier that breaks its contract
  void supplier_that_fails_ends_the_call_and_is_asked_again_by_the_next() {
    RuntimeException failure = new IllegalStateException("no token today");
    Queue<Optional<String>> tokens =
        new ArrayDeque<>(
            List.of(Optional.empty(), Optional.of("a b"), Optional.of("a\n"), Optional.of("c")));
    PlantClient client =
        PlantClient.builder(
                client(CREATED).plants.resolve("/"),
                () -> tokens.remove().orElseThrow(() -> failure))
            .build();
    assertSame(failure, assertThrows(IllegalStateException.class, () -> client.create(FERN)));
    for (String ignored : List.of("a b", "a\n")) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> client.create(FERN)).getMessage();
      assertTrue(message.startsWith("the supplied token must not"), message);
    }
    assertEquals(FERN.plant(), client.create(FERN));
  }

  @Test
  void cancelled_stage_and_interrupted_thread_leave_no_attempt_running() {
    PlantClient client = client(SILENCE, SILENCE);
    CompletableFuture<Plant> creation = start(client);
    await(() -> service.requests.size() == 1);
    creation.cancel(true);
    assertThrows(CancellationException.class, creation::join);
    await(service.connections::isEmpty);

    Thread caller = Thread.currentThread();
    CompletableFuture<Void> interrupt =
        CompletableFuture.runAsync(() -> {
          await(() -> service.requests.size() == 2);
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
        "mailto:a@b"
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

  private static CompletableFuture<Plant> start(PlantClient client) {
    return client.createAsync(FERN, Runnable::run).toCompletableFuture();
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(1_000_000);
    }
  }
}
