package org.plantstore.adapter.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.Answer.assertError;

import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.domain.PlantStoreUnavailableException;

/**
 * Well-formed requests in unusual forms, requests after which the connection is closed, and large
 * requests with and without memory for them.
 */
class ConnectionTest extends ServerTest {

  static final String LAST = createRequest("Connection: close\r\n");

  private static final String LARGE =
      "{\"id\":1,\"name\":\"fern\",\"unknown\":\"" + "x".repeat(1_000_000) + "\"}";

  /** The limit on the total size of all bodies, in bytes: an eighth of the heap. */
  private static final int ALL_BYTES = (int) (Runtime.getRuntime().maxMemory() / 8);

  @Inject ConnectionPipeline pipeline;

  @ParameterizedTest
  @CsvSource({
    "TRACE /plants, 405", "OPTIONS *, 404", "POST /%70lants, 404", "POST /PLANTS, 404",
    "POST /plants%2F, 404", "POST /./plants, 404", "POST //plants, 404", "POST /plants;a=b, 404",
    "GET //x//, 404", "GET //, 404", "GET ///plants, 404", "POST http://x//plants, 404",
    "GET //:@%FF/;a=b, 404", "GET /?a[]=1|2&b={%}\\^`<>\", 200"
  })
  void method_and_path_must_match_exactly(String methodAndTarget, int status) throws IOException {
    String request = head(methodAndTarget + " HTTP/1.1", "Content-Length: 0\r\n");

    assertEquals(List.of(status, 200), statuses(send(request + LAST)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /plants | HTTPS://x:8080/plants
          /plants | /plants?a=%7B%7D
          /plants | /plants?a[b]=c|d&e=%zz?/
          /plants | /plants/
          POST    | ' &  & POST'
          Host: x | Host: [::1]:80
          Host: x | Host: %41,b
          Host: x | Host: x & Expect: something
          Host: x | Host: x & Upgrade: websocket & Connection: Upgrade & Sec-WebSocket-Key: cGxhbnRzIGdyb3cgaGVyZQ==
          Host: x | Host: x & Upgrade: h2c & Connection: Upgrade, HTTP2-Settings & HTTP2-Settings: AAMAAABk
          """)
  void unusual_but_valid_head_is_accepted(String usual, String unusual) throws IOException {
    String request = createRequest("").replace(usual, unusual.replace(" & ", "\r\n"));

    assertEquals(List.of(200, 200), statuses(send(request + LAST)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ";a", ";a=\"b; \\\"c\";!='"})
  void chunked_body_with_extensions_and_trailers_is_accepted(String extensions) throws IOException {
    String rest = "00" + extensions + "\r\nContent-Length: 5\r\nAuthorization: none\r\n\r\n";
    String size = "\r\n" + Integer.toHexString(FERN.length());
    String request = chunkedRequest("", rest).replace(size, size + extensions);

    assertEquals(List.of(200, 200), statuses(send(request + LAST)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/plants", "/openapi.yaml"})
  void response_to_head_equals_the_response_to_get_without_content(String path) throws IOException {
    String requests = head("HEAD " + path + " HTTP/1.1", "");

    String answers = send(requests + LAST);
    String expected = send(requests.replace("HEAD", "GET") + LAST);

    assertEquals(statuses(expected), statuses(answers), answers);
    assertEquals(headers(expected, "content-length"), headers(answers, "content-length"));
    assertEquals(1, answers.split("\r\n\r\nHTTP").length - 1, answers);
  }

  /** RFC 9112, section 9.3, permits a server to ignore keep-alive in HTTP/1.0. */
  @Test
  void connection_of_an_http_1_0_client_is_closed_after_the_first_response() throws IOException {
    String request = createRequest("Connection: keep-alive\r\n").replace("HTTP/1.1", "HTTP/1.0");

    String answers = send(request + request);

    assertEquals(List.of("close"), headers(answers, "connection"), answers);
    assertEquals(1, createPlant.calls());
  }

  @Test
  void client_that_expects_100_continue_receives_it_before_sending_the_body() throws IOException {
    String headers = "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 22\r\n";
    try (Socket socket = connect(server)) {
      write(socket, head("POST /plants HTTP/1.1", headers));
      String asked = "HTTP/1.1 100 Continue\r\n\r\n";
      assertEquals(asked, read(socket, asked));
      write(socket, FERN);
      assertEquals(List.of(200), statuses(readAll(socket)));
    }
  }

  /** The client reads the response only after it has sent the whole body. */
  @ParameterizedTest
  @ValueSource(strings = {"", "Expect: 100-continue\r\n", "Connection: close\r\n"})
  void early_refusal_of_a_body_reaches_the_client_and_closes_the_connection(String headers)
      throws IOException {
    String answers = send(createRequest(headers, " ".repeat(2 * 1024 * 1024)) + LAST);

    assertEquals(List.of(400), statuses(answers), answers);
    assertEquals(List.of("close"), headers(answers, "connection"));
  }

  /** RFC 9112, section 9.6. */
  @Test
  void requests_after_the_last_one_are_ignored() throws IOException {
    String close = "Connection: foo, Close\r\n";
    String answers = send(createRequest("") + createRequest(close) + createRequest(""));

    assertEquals(List.of(200, 200), statuses(answers));
    assertEquals(2, createPlant.calls());
    String refused = "POST /plants HTTP/1.1\r\nHost: x\r\n" + close + "\r\n";
    assertEquals(List.of(401), statuses(send(refused + createRequest(""))));
  }

  @Test
  void pipelined_requests_are_answered_in_order_until_one_is_malformed() throws IOException {
    createPlant.behave(plant -> {
      throw new IllegalStateException("an internal error");
    });
    String failing =
        createRequest("", "{}")
            + createRequest("").replace("Bearer ", "Bearer x")
            + createRequest("");

    String malformed = chunkedRequest("X-Request-Id: last\r\n", "zz\r\n");
    String answers = send(failing.repeat(200) + malformed + LAST);

    String statuses = "400, 401, 500, ".repeat(200) + "400";
    assertEquals("[" + statuses + "]", statuses(answers).toString());
    List<String> ids = headers(answers, "x-request-id");
    assertEquals("last", ids.get(600));
    assertEquals(601, Set.copyOf(ids).size());
  }

  private Semaphore free() {
    return pipeline.freeBodyBytes;
  }

  @AfterEach
  void awaitAllPermitsReleased() {
    awaitFree(bytes -> bytes == ALL_BYTES);
  }

  private void awaitFree(IntPredicate expected) {
    assertTimeoutPreemptively(
        Duration.ofMinutes(1),
        () -> {
          while (!expected.test(free().availablePermits())) {
            LockSupport.parkNanos(5_000_000);
          }
        });
  }

  @Test
  void large_body_without_memory_is_refused_with_5003_and_small_bodies_are_served()
      throws IOException {
    assertTrue(free().tryAcquire(ALL_BYTES));
    try {
      assertError(post(LARGE), ErrorNumber.OVERLOADED);
      assertEquals(200, post(FERN).status());
      assertEquals(1, createPlant.calls());
      Answer anonymous = Answer.to(anonymous("/plants").POST(BodyPublishers.ofString(LARGE)));
      assertEquals(401, anonymous.status(), "the token is validated before memory is reserved");
    } finally {
      free().release(ALL_BYTES);
    }
  }

  @Test
  void body_in_chunks_of_one_byte_takes_one_permit_per_byte() throws IOException {
    int bodyBytes = 90_000;
    int taken = ALL_BYTES - bodyBytes;
    String spaces = "1\r\n \r\n".repeat(bodyBytes - FERN.length());
    assertTrue(free().tryAcquire(taken));
    try {
      String chunks = chunkedRequest("Connection: close\r\n", spaces + "0\r\n\r\n");
      assertEquals(List.of(200), statuses(send(chunks)));
      String tooLong = chunkedRequest("", spaces.repeat(2) + "0\r\n\r\n");
      assertEquals(List.of(503), statuses(send(tooLong)));
    } finally {
      free().release(taken);
    }
  }

  @Test
  void memory_is_reserved_until_the_response_and_then_released() {
    createPlant.behave(plant -> {
      assertNotEquals(ALL_BYTES, free().availablePermits());
      return plant.plant();
    });
    assertEquals(200, post(LARGE).status());
    awaitAllPermitsReleased();

    createPlant.behave(plant -> {
      throw new PlantStoreUnavailableException("down");
    });
    assertError(post(LARGE), ErrorNumber.STORE_UNAVAILABLE);
    awaitAllPermitsReleased();

    assertEquals(400, post(LARGE.repeat(2)).status());
  }

  @Test
  void memory_is_released_when_the_client_disconnects_and_nothing_is_created_or_logged()
      throws IOException {
    String create = createRequest("", LARGE);
    try (Log log = new Log("org.plantstore.adapter.http.ErrorResponses");
        Socket connection = connect(server)) {
      write(connection, create.substring(0, create.length() - 1));
      awaitFree(bytes -> bytes < ALL_BYTES);
      connection.shutdownOutput();
      assertEquals("", readAll(connection));
      awaitAllPermitsReleased();
      assertEquals(List.of(), log.await(0));
    }
    assertEquals(0, createPlant.calls());
  }
}
