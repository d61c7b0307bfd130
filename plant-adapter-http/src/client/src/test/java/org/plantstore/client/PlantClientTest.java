package org.plantstore.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.time.ZoneOffset.UTC;
import static java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.client.ScriptedService.SILENCE;
import static org.plantstore.client.ScriptedService.response;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;

@Tag("newest")
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT) // some tests wait for a deadline
class PlantClientTest {

  private static final NewPlant FERN = new NewPlant(7, "fern \"\u0001\uD83C\uDF3F", "shade");
  private static final String PLANT =
      "{\"name\":\"fern \\\"\\u0001\uD83C\uDF3F\",\"tag\":\"shade\"}";
  private static final String SENT = "\r\n\r\n" + PLANT.replace("{", "{\"id\":7,");
  private static final String CREATED = response(200, PLANT);
  private static final String CLOSE = "";

  private final AtomicInteger supplied = new AtomicInteger();
  @AutoClose private final ScriptedService service = new ScriptedService();

  private PlantClient.Builder builder(String... script) {
    service.script.addAll(List.of(script));
    return builder(service.address, () -> "token-" + supplied.incrementAndGet());
  }

  /** Returns a builder with a deadline that does not pass even if the machine stalls. */
  private static PlantClient.Builder builder(URI address, Supplier<String> tokens) {
    return PlantClient.builder(address, tokens).deadline(Duration.ofDays(1));
  }

  private <T extends Throwable> T failure(Class<T> type, CreatePlant client) {
    T failure = assertThrows(type, () -> client.create(FERN));
    assertFalse((failure + "").contains("token-"), failure + "");
    assertEquals(null, failure.getCause());
    return failure;
  }

  @Test
  void request_has_the_documented_form() {
    URI behindProxy = service.address.resolve("/a/");
    Map<String, String> headers = Map.of("traceparent", "00-1-2-01", "X-Request-Id", "order-1");
    PlantClient client = builder(behindProxy, () -> "a.b-c_d=").headers(() -> headers).build();
    service.script.addAll(List.of(CREATED, response(200, "{\"name\":\"\",\"new\":[1]}")));

    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(new Plant("", null), client.create(new NewPlant(Long.MIN_VALUE, "", null)));

    String request = service.requests.get(0);
    assertTrue(request.startsWith("POST /a/plants HTTP/1.1\r\n"), request);
    assertTrue(request.contains("\r\nAuthorization: Bearer a.b-c_d=\r\n"), request);
    assertTrue(request.contains("\r\nContent-Type: application/json\r\n"), request);
    assertTrue(request.contains("\r\ntraceparent: 00-1-2-01\r\n"), request);
    assertTrue(request.contains("\r\nX-Request-Id: order-1\r\n"), request);
    assertFalse(request.contains("Upgrade"), request);
    assertTrue(request.endsWith(SENT), request);
    String other = service.requests.get(1);
    assertTrue(other.endsWith("\r\n\r\n{\"id\":-9223372036854775808,\"name\":\"\"}"), other);
  }

  /** These failures may be temporary, and the service may already have created the plant. */
  @ParameterizedTest
  @ValueSource(ints = {408, 425, 429, 500, 501, 502, 503, 504, 530})
  void request_is_repeated_while_the_service_is_unavailable(int status) {
    String error = response(status, "{\"error\":5003,\"message\":\"Too much.\"}");
    PlantClient client = builder(error, CLOSE, response(status, "<html>"), CLOSE, CREATED).build();
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(5, service.requests.size());
    assertTrue(service.requests.stream().allMatch(request -> request.endsWith(SENT)));
  }

  /** The client waits for a third of the deadline. The rest is for a machine that stalls. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void request_is_repeated_if_its_response_is_missing_or_incomplete(boolean isMissing) {
    String cut = CREATED.substring(0, CREATED.length() - 1);
    PlantClient client =
        builder(isMissing ? SILENCE : cut, CREATED).deadline(Duration.ofSeconds(45)).build();
    long start = System.nanoTime();
    assertEquals(FERN.plant(), client.create(FERN));
    assertTrue(System.nanoTime() - start >= Duration.ofSeconds(45 / 3).toNanos());
    assertEquals(2, service.requests.size());
    await(() -> service.openConnections() == 1);
  }

  @Test
  void call_fails_before_its_deadline_if_retry_after_exceeds_the_deadline() {
    PlantClient.Builder builder = builder(response(503, "", "Retry-After: 3600"));
    PlantClient client = builder.deadline(Duration.ofHours(1)).build();
    String reason = failure(PlantStoreUnavailableException.class, client) + "";
    assertTrue(reason.contains(service.address + "/plants: status 503"), reason);
    assertEquals(1, service.requests.size());
  }

  /** Repeats the call, because a machine that stalls may leave no time for an attempt. */
  @ParameterizedTest
  @CsvSource({
    "http://localhost:1, connection refused",
    "http://nowhere.invalid, the host name nowhere.invalid cannot be resolved"
  })
  void call_fails_at_its_deadline_and_reports_the_last_reason(URI address, String reason) {
    PlantClient client =
        PlantClient.builder(address, () -> "token-1").deadline(Duration.ofSeconds(1)).build();
    String expected = address + "/plants: " + reason;
    await(() -> (failure(PlantStoreUnavailableException.class, client) + "").contains(expected));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1",
    "soon, 0",
    "-1, 0",
    "1.5, 0",
    "'Sun, 06 Nov 1994 08:49:37 GMT', 0",
    "99999999999999999999, -1",
    "2147483648, -1",
    "'Fri, 31 Dec 9999 23:59:59 GMT', -1",
  })
  void next_attempt_waits_for_retry_after_unless_the_deadline_is_earlier(
      String retryAfter, int seconds) {
    PlantClient client = builder(response(503, "", "Retry-After: " + retryAfter), CREATED).build();
    long start = System.nanoTime();
    if (seconds < 0) {
      failure(PlantStoreUnavailableException.class, client);
    } else {
      assertEquals(FERN.plant(), client.create(FERN));
      assertTrue(System.nanoTime() - start >= Duration.ofSeconds(seconds).toNanos());
    }
    assertEquals(seconds < 0 ? 1 : 2, service.requests.size());
  }

  @Test
  void next_attempt_waits_until_the_date_in_retry_after() {
    Instant date = Instant.now().plusSeconds(3).truncatedTo(ChronoUnit.SECONDS);
    String retryAfter = RFC_1123_DATE_TIME.format(date.atZone(UTC));
    PlantClient client = builder(response(503, "", "Retry-After: " + retryAfter), CREATED).build();
    assertEquals(FERN.plant(), client.create(FERN));
    assertFalse(Instant.now().isBefore(date));
    assertEquals(2, service.requests.size());
  }

  @Test
  void requests_beyond_the_limit_wait_until_other_requests_end() {
    PlantClient client = builder(SILENCE).maxRequestsInFlight(1).build();
    ExecutorService threads = Executors.newCachedThreadPool();
    Future<Plant> first = threads.submit(() -> client.create(FERN));
    await(() -> service.requests.size() == 1);
    List<CompletableFuture<Plant>> others = new ArrayList<>();
    for (int call = 0; call < 200; call++) {
      service.script.add(CREATED);
      others.add(client.createAsync(FERN, threads).toCompletableFuture());
    }
    assertEquals(1, service.requests.size());
    first.cancel(true);
    others.forEach(other -> assertEquals(FERN.plant(), other.join()));
    assertEquals(2, service.connections.size());
    threads.shutdown();
  }

  @Test
  void call_whose_deadline_passes_in_a_queue_sends_no_request() {
    PlantClient.Builder builder = builder().deadline(Duration.ofMillis(300));
    Queue<Runnable> queue = new ArrayDeque<>();
    CompletionStage<Plant> queued = builder.build().createAsync(FERN, queue::add);
    long start = System.nanoTime(); // the call began earlier, so its deadline has passed afterward
    await(() -> System.nanoTime() - start > Duration.ofMillis(300).toNanos());
    queue.remove().run();
    assertTrue(failure(queued).contains("not sent in time"), failure(queued));
    assertEquals(List.of(), service.requests);

    service.script.addAll(Collections.nCopies(50, SILENCE));
    PlantClient client = builder.maxRequestsInFlight(1).build();
    ExecutorService threads = Executors.newCachedThreadPool();
    List<CompletionStage<Plant>> calls = new ArrayList<>();
    for (int id = 0; id < 50; id++) {
      calls.add(client.createAsync(new NewPlant(id, "fern", null), queue::add));
    }
    queue.forEach(threads::execute); // only now, so that all calls have the same deadline
    List<Integer> unsent = new ArrayList<>();
    for (int id = 0; id < 50; id++) {
      if (failure(calls.get(id)).contains("not sent in time")) {
        unsent.add(id);
      }
    }
    assertFalse(unsent.isEmpty());
    for (String request : service.requests) {
      assertFalse(
          unsent.contains(Integer.valueOf(request.replaceFirst("(?s).*\"id\":(\\d+).*", "$1"))));
    }
    threads.shutdown();
  }

  private static String failure(CompletionStage<Plant> call) {
    return call.handle((created, failure) -> failure + "").toCompletableFuture().join();
  }

  @ParameterizedTest
  @CsvSource({
    "https, HTTP/1.1 400 any, nrecognized SSL message",
    "https, '\u0015\u0003\u0003\u0000\u0002\u0002(', handshake_failure",
    "http, '\u0015\u0003\u0003\u0000\u0002\u0002(', status line",
  })
  void tls_on_only_one_side_is_reported_as_unexpected(String scheme, String answer, String expected)
      throws IOException {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      URI address = URI.create(scheme + "://localhost:" + listener.getLocalPort());
      PlantClient client = builder(address, () -> "token-1").build();
      new Thread(
              () -> {
                try (Socket connection = listener.accept()) {
                  connection.getOutputStream().write((answer + "\r\n\r\n").getBytes(ISO_8859_1));
                  connection.shutdownOutput();
                  connection.getInputStream().readAllBytes();
                } catch (IOException e) {
                  // The client closed the connection.
                }
              })
          .start();
      String message = failure(UnexpectedResponseException.class, client) + "";
      assertTrue(message.matches("\\P{Cntrl}+the TLS connection failed: \\P{Cntrl}+"), message);
      assertTrue(message.contains(expected), message);
    }
  }

  @Test
  void plant_with_a_very_long_name_is_confirmed() {
    String name = "x".repeat(20_000_001); // longer than the default limit of the JSON parser
    String plant = "{\"name\":\"" + name + "\",\"ignored\":" + "9".repeat(2_000) + "}";
    PlantClient client = builder(response(200, plant)).build();
    assertEquals(new Plant(name, null), client.create(new NewPlant(1, name, null)));
  }

  @Test
  void only_the_beginning_of_a_large_response_is_kept() {
    String begin = "{\"ignored\":\"" + "x".repeat(60 * 1024) + "\"";
    String end = ",\"name\":\"fern\"}";
    PlantClient client = builder(response(200, begin + end)).build();
    NewPlant fern = new NewPlant(1, "fern", null);
    assertEquals(fern.plant(), client.create(fern));
    service.script.add(response(200, begin + " ".repeat(128 * 1024) + end));
    assertThrows(UnexpectedResponseException.class, () -> client.create(fern));
  }

  @Test
  void response_to_another_request_is_ignored_even_if_it_reports_a_taken_id() {
    PlantClient client = builder(CREATED).build();
    assertEquals(FERN.plant(), client.create(FERN));
    String id = service.requests.get(0).replaceFirst("(?s).*X-Request-Id: (\\S+).*", "$1");
    String taken = "{\"error\":3001,\"message\":\"Taken.\"}";
    service.script.addAll(List.of(response(400, taken, "X-Request-Id: " + id), CREATED));
    assertEquals(FERN.plant(), client.create(FERN));
    service.script.add(response(400, taken));
    assertEquals(7, failure(PlantIdTakenException.class, client).id());
  }

  @Test
  void broken_handshake_is_retried_and_a_rejection_by_a_proxy_is_unexpected() {
    InetSocketAddress proxy = new InetSocketAddress("localhost", service.address.getPort());
    service.script.add("HTTP/1.1 200 and closed\r\n\r\n");
    service.script.add(response(407, "", "Proxy-Authenticate: Basic realm=\"any\""));
    PlantClient client =
        builder(URI.create("https://plants.example"), () -> "token-1")
            .httpClient(HttpClient.newBuilder().proxy(ProxySelector.of(proxy)).build())
            .build();
    failure(UnexpectedResponseException.class, client);
    assertEquals(2, service.requests.size());
  }

  @ParameterizedTest
  @CsvSource({"2001, a, id", "2002, a, name", "2003, a, tag", "1005, abcd, tag", "1005,, name"})
  void plant_that_the_service_rejects_is_invalid(int error, @Nullable String tag, String field) {
    NewPlant oak = new NewPlant(1, "oak", tag);
    PlantClient client =
        builder(response(400, "{\"error\":" + error + ",\"message\":\"Not here.\"}")).build();
    String message = failure(InvalidPlantException.class, any -> client.create(oak)) + "";
    assertTrue(
        message.matches(".*: " + field + " was rejected: .* " + error + ": Not here\\."), message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | <html>login</html> | 0 | X-Request-Id abc, Content-Type text/html, Content-Encoding gzip",
        "200 | {\"name\":\"moss\",\"tag\":\"shade\"} | 0 | status 200",
        "302 | '' | 0 | status 302",
        "400 | {\"error\":1001,\"message\":\"Not token-1.\"} | 1001 | contains the token",
        "200 | {\"error\":3001,\"message\":\"Taken.\"} | 3001 | status 200",
        "404 | {\"error\":4003,\"message\":\"a\\n\\u2028b\\u0085\\u001b[c\"} | 4003 | : a b [c",
        "403 | {\"error\":4006,\"message\":\"A claim.\"} | 4006 | error 4006: A claim.",
        "404 | {\"error\":40030000000} | 0 | error 40030000000",
        "413 | <html>too large</html> | 0 | status 413",
      })
  void any_other_response_is_unexpected(int status, String body, int error, String expected) {
    String[] headers = {"Content-Type: text/html", "Content-Encoding: gzip", "X-Request-Id: abc"};
    PlantClient client = builder(response(status, body, headers)).build();
    UnexpectedResponseException unexpected = failure(UnexpectedResponseException.class, client);
    assertTrue((unexpected + "").contains(service.address + "/plants: "), unexpected + "");
    assertTrue((unexpected + "").contains(expected), unexpected + "");
    assertEquals(status, unexpected.status());
    assertEquals(error, unexpected.error());
    assertTrue((unexpected + "").matches(".*"), "the message is one line");
    assertEquals(1, service.requests.size());
  }

  @Test
  void supplier_provides_one_token_per_call_and_another_if_it_is_rejected() {
    String bad = response(401, "");
    PlantClient client = builder(CREATED, bad, response(503, ""), CREATED, bad, bad).build();
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(FERN.plant(), client.create(FERN));
    assertEquals(3, supplied.get());
    assertTrue(service.requests.get(3).contains("Bearer token-3"));
    failure(UnexpectedResponseException.class, client);
    assertEquals(5, supplied.get());

    String quoting =
        response(401, "{\"error\":4002,\"message\":\"Not token-6.\"}", "Retry-After: 86400");
    PlantClient hurried = builder(quoting).build();
    failure(PlantStoreUnavailableException.class, hurried); // does not quote the replaced token
    assertEquals(7, supplied.get());
  }

  @Test
  void supplier_runs_on_the_calling_thread_and_its_exception_fails_the_call() {
    ThreadLocal<String> user = new ThreadLocal<>();
    Supplier<String> tokens = () -> requireNonNull(user.get());
    // A container's proxy is a subclass, like this client.
    PlantClient client = new PlantClient(builder(service.address, tokens)) {};
    assertThrows(NullPointerException.class, () -> client.create(FERN));
    CompletionStage<Plant> failed = client.createAsync(FERN, Runnable::run);
    Throwable failure = failed.handle((created, thrown) -> thrown).toCompletableFuture().join();
    assertEquals(NullPointerException.class, failure.getClass());

    for (String token : List.of("", "a b", "a\n", "Bearer a")) {
      user.set(token);
      String fault = assertThrows(IllegalArgumentException.class, () -> client.create(FERN)) + "";
      assertTrue(fault.contains(token.isEmpty() ? "returned none" : "without \"Bearer \""), fault);
    }
    user.set("ann");
    service.script.add(CREATED);
    CompletionStage<Plant> created = client.createAsync(FERN, task -> new Thread(task).start());
    assertEquals(FERN.plant(), created.toCompletableFuture().join());
    assertTrue(service.requests.get(0).contains("Bearer ann\r\n"));
  }

  @Test
  void interrupted_call_leaves_no_connection_open() {
    PlantClient client = builder(SILENCE).build();
    Thread caller = Thread.currentThread();
    Thread other =
        new Thread(() -> {
          await(() -> service.requests.size() == 1);
          caller.interrupt();
        });
    other.start();
    failure(PlantStoreUnavailableException.class, client);
    assertTrue(Thread.interrupted());
    await(() -> service.openConnections() == 0);
  }

  @Test
  void invalid_settings_and_clients_that_follow_redirects_are_rejected() {
    for (String address :
        List.of(
            ("ftp://a localhost:8080 /a http:///a http://a_b http://1.2.3.256 http://a:0"
                    + " http://a:65536 http://a:99999 http://a:99999999999 http://u:pw@a http://a?pw"
                    + " http://a/b?pw#c http://a#pw")
                .split(" "))) {
      URI uri = URI.create(address);
      String fault =
          assertThrows(IllegalArgumentException.class, () -> PlantClient.builder(uri, () -> ""))
              + "";
      assertFalse(fault.contains("pw"), fault);
      assertTrue(
          fault.contains(address.replaceFirst("u:pw@|[?#].*", "")) || fault.contains("...@a"),
          fault);
    }
    PlantClient.Builder builder = builder();
    assertThrows(IllegalArgumentException.class, () -> builder.deadline(Duration.ZERO));
    assertThrows(IllegalArgumentException.class, () -> builder.deadline(Duration.ofDays(2)));
    assertThrows(IllegalArgumentException.class, () -> builder.maxRequestsInFlight(0));
    HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    assertThrows(IllegalArgumentException.class, () -> builder.httpClient(client));
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(1_000_000);
    }
  }
}
