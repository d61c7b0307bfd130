package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;

/** Every answer and every log line has an id: the client's if it is valid. */
class RequestIdTest extends ServerTest {

  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

  @ParameterizedTest
  @ValueSource(
      strings = {
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
    String answer = send(head + "\r\nHost: x\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n");

    assertEquals(1, statuses(answer).size(), answer);
    assertEquals(List.of("mine"), headers(answer, "x-request-id"), answer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonsense\r\n\r\n", "POST /plants\r\n\r\n", "GET / HTTP/one\r\n\r\n"})
  void answer_to_what_cannot_be_read_has_an_id(String bytes) throws IOException {
    assertMade(headers(send(bytes), "x-request-id"));
  }

  @Test
  void pipelined_requests_are_answered_with_the_id_of_each_and_made_ids_differ()
      throws IOException {
    String answers =
        send(
            createRequest("X-Request-Id: first\r\n")
                + "GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500)
                + chunkedRequest("X-Request-Id: last\r\n", "zz\r\n"));

    List<String> ids = headers(answers, "x-request-id");
    assertEquals("first", ids.get(0));
    assertEquals("last", ids.get(501));
    assertEquals(502, Set.copyOf(ids).size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          00-TRACE-b7ad6b7169203331-01                            | true
          cc-TRACE-b7ad6b7169203331-01                            | true
          cc-TRACE-b7ad6b7169203331-01-what the future brings     | true
          TRACE                                                   | false
          ff-TRACE-b7ad6b7169203331-01                            | false
          00-00000000000000000000000000000000-b7ad6b7169203331-01 | false
          00-TRACE-0000000000000000-01                            | false
          00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01 | false
          00-TRACE-b7ad6b7169203331-01-more                       | false
          00-TRACE-b7ad6b7169203331-1                             | false
          00-TRACE-b7ad6b7169203331-01&00-TRACE-b7ad6b7169203331-01 | false
          """)
  void valid_trace_parent_names_its_trace(String header, boolean isValid) throws IOException {
    String parents = header.replace("TRACE", TRACE_ID).replace("&", "\r\ntraceparent: ");
    assertEquals(isValid ? TRACE_ID : null, idsOf("traceparent: " + parents).get("trace_id"));
  }

  /** Returns the ids in the log of a request with this header, whose answer has the same id. */
  private Map<String, String> idsOf(String header) throws IOException {
    try (Log log = new Log(Exchanges.ACCESS_LOG)) {
      String answer = send(createRequest("Connection: close\r\n" + header + "\r\n"));
      Map<String, String> ids = log.await(1).get(0).getMDCPropertyMap();
      assertEquals(List.of(ids.get("request_id")), headers(answer, "x-request-id"));
      return ids;
    }
  }

  private static void assertMade(List<String> ids) {
    assertEquals(1, ids.size(), ids::toString);
    assertTrue(ids.get(0).matches("[0-9a-f]{32}"), ids::toString);
  }
}
