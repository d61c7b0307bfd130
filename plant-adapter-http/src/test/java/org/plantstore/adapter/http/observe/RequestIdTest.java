package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.connection.RawRequests.createRequest;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.FakeCreatePlant;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.connection.RawRequests;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Every answer and every log line has an id: the client's if it is valid. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class RequestIdTest {

  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
  private static final String TRACE_PARENT = "00-" + TRACE_ID + "-b7ad6b7169203331-01";

  @Inject EmbeddedServer server;
  @Inject FakeCreatePlant createPlant;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "Order-4711.b_C",
        "0123456789012345678901234567890123456789012345678901234567890123"
      })
  void well_formed_id_is_kept(String id) throws IOException {
    assertEquals(Map.of("request_id", id), idsOf("X-Request-Id: " + id));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "01234567890123456789012345678901234567890123456789012345678901234",
        "a b", "a\r\nX-Request-Id: a",
        "a;b", "\u00e4",
        "a/b", "a\"b"
      })
  void other_id_is_replaced(String id) throws IOException {
    assertMade(List.copyOf(idsOf("x-request-id: " + id).values()));
  }

  @Test
  void made_ids_differ() throws IOException {
    String refused = "GET /elsewhere HTTP/1.1\r\nHost: x\r\n";
    String answers =
        RawRequests.send(
            server, (refused + "\r\n").repeat(999) + refused + "Connection: close\r\n\r\n");

    assertEquals(1_000, Set.copyOf(RawRequests.headers(answers, "x-request-id")).size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1", "OPTIONS * HTTP/1.1",
        "HEAD /errors HTTP/1.1", "TRACE /plants HTTP/1.1",
        "GET /openapi.yaml/ HTTP/1.1", "POST /plants HTTP/2.0",
        "POST /% HTTP/1.1", "GET /openapi.json HTTP/1.1\r\nIf-None-Match: *",
        "POST /plants HTTP/1.1\r\nHost: y", "POST /plants HTTP/1.1\r\nContent-Length: 0"
      })
  void answer_to_whatever_can_be_read_has_the_id(String head) throws IOException {
    String answer =
        RawRequests.send(
            server, head + "\r\nHost: x\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n");

    assertEquals(1, RawRequests.statuses(answer).size(), answer);
    assertEquals(List.of("mine"), RawRequests.headers(answer, "x-request-id"), answer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonsense\r\n\r\n", "POST /plants\r\n\r\n", "GET / HTTP/one\r\n\r\n"})
  void answer_to_what_cannot_be_read_has_an_id(String bytes) throws IOException {
    assertMade(RawRequests.headers(RawRequests.send(server, bytes), "x-request-id"));
  }

  @Test
  void pipelined_requests_are_answered_with_the_id_of_each() throws IOException {
    String answers =
        RawRequests.send(
            server,
            createRequest("X-Request-Id: first\r\n")
                + "GET /elsewhere HTTP/1.1\r\nHost: x\r\nX-Request-Id: second\r\n\r\n"
                + createRequest("X-Request-Id: third\r\n")
                + RawRequests.head(
                    "POST /plants HTTP/1.1",
                    "X-Request-Id: fourth\r\nTransfer-Encoding: chunked\r\n")
                + "zz\r\n");

    assertEquals(List.of(200, 401, 200, 400), RawRequests.statuses(answers), answers);
    assertEquals(
        List.of("first", "second", "third", "fourth"),
        RawRequests.headers(answers, "x-request-id"),
        answers);
  }

  /** The line about many refused creates at once has none, but the one about the first has. */
  @Test
  void line_about_a_create_that_fails_has_the_ids_of_its_request() throws IOException {
    try (Log log = new Log("org.plantstore.adapter.http")) {
      createPlant.fail(new PlantStoreUnavailableException("the database is away"));
      create("X-Request-Id: refused\r\ntraceparent: " + TRACE_PARENT + "\r\n");
      createPlant.fail(new ArithmeticException("bug"));
      create("X-Request-Id: failed\r\n");

      assertEquals(
          List.of(
              Map.of("request_id", "refused", "trace_id", TRACE_ID),
              Map.of("request_id", "failed")),
          log.await(2).stream().map(ILoggingEvent::getMDCPropertyMap).toList());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        TRACE_PARENT,
        "00-" + TRACE_ID + "-b7ad6b7169203331-ff",
        "cc-" + TRACE_ID + "-b7ad6b7169203331-01",
        "cc-" + TRACE_ID + "-b7ad6b7169203331-01-what the future brings"
      })
  void trace_parent_names_its_trace(String header) throws IOException {
    assertEquals(TRACE_ID, idsOf("traceparent: " + header).get("trace_id"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        TRACE_ID,
        "ff-" + TRACE_ID + "-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-" + TRACE_ID + "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-" + TRACE_ID + "-b7ad6b7169203331-01-more",
        "00-" + TRACE_ID + "-b7ad6b7169203331-1",
        "00-" + TRACE_ID + "-b7ad6b7169203331",
        TRACE_PARENT + "\r\ntraceparent: " + TRACE_PARENT
      })
  void invalid_trace_parent_names_none(String header) throws IOException {
    assertEquals(Set.of("request_id"), idsOf("traceparent: " + header).keySet());
  }

  /** Returns the ids in the log of a request with this header, whose answer has the same id. */
  private Map<String, String> idsOf(String header) throws IOException {
    try (Log log = new Log(Exchanges.ACCESS_LOG)) {
      String answer = create(header + "\r\n");
      Map<String, String> ids = log.await(1).get(0).getMDCPropertyMap();
      assertEquals(List.of(ids.get("request_id")), RawRequests.headers(answer, "x-request-id"));
      return ids;
    }
  }

  private String create(String headers) throws IOException {
    return RawRequests.send(server, createRequest("Connection: close\r\n" + headers));
  }

  private static void assertMade(List<String> ids) {
    assertEquals(1, ids.size(), ids::toString);
    assertTrue(ids.get(0).matches("[0-9a-f]{32}"), ids::toString);
  }
}
