package org.plantstore.adapter.http.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.connection.RawRequests.FERN;

import ch.qos.logback.classic.spi.ILoggingEvent;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.FakeCreatePlant;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.connection.RawRequests;
import org.plantstore.adapter.http.token.IdentityProvider;
import org.plantstore.domain.PlantStoreUnavailableException;

/** Every answer has an id, its request's own if that is usable, and so has what is logged. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
class RequestIdTest {

  private static final String MADE = "[0-9a-f]{32}";
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
  void well_formed_id_is_answered(String id) {
    assertEquals(id, idOf(Answer.to(create().header("X-Request-Id", id))));
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
    String answer =
        RawRequests.send(
            server, RawRequests.createRequest("Connection: close\r\nx-request-id: " + id + "\r\n"));

    assertEquals(List.of(200), RawRequests.statuses(answer));
    assertMade(RawRequests.headers(answer, "x-request-id"));
  }

  @Test
  void made_ids_differ() {
    Set<String> ids = new HashSet<>();
    for (int request = 0; request < 20; request++) {
      ids.add(idOf(Answer.to(create())));
    }
    for (int made = 0; made < 100_000; made++) {
      ids.add(RequestId.make());
    }

    assertEquals(100_020, ids.size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nHost: x\r\n",
        "HEAD /errors HTTP/1.1\r\nHost: x\r\n",
        "GET /openapi.json HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n",
        "GET /openapi.yaml/ HTTP/1.1\r\nHost: x\r\n",
        "GET /elsewhere HTTP/1.1\r\nHost: x\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n",
        "TRACE /plants HTTP/1.1\r\nHost: x\r\n",
        "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n",
        "POST /plants HTTP/1.1\r\n",
        "POST /plants HTTP/2.0\r\nHost: x\r\n",
        "POST /% HTTP/1.1\r\nHost: x\r\n"
      })
  void answer_to_whatever_can_be_read_has_the_id(String head) throws IOException {
    String answer =
        RawRequests.send(server, head + "X-Request-Id: mine\r\nConnection: close\r\n\r\n");

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
    String refused = "GET /elsewhere HTTP/1.1\r\nHost: x\r\nX-Request-Id: second\r\n\r\n";
    String broken =
        RawRequests.head(
                "POST /plants HTTP/1.1", "X-Request-Id: fourth\r\nTransfer-Encoding: chunked\r\n")
            + "zz\r\n";

    String answers =
        RawRequests.send(
            server,
            RawRequests.createRequest("X-Request-Id: first\r\n")
                + refused
                + RawRequests.createRequest("X-Request-Id: third\r\n")
                + broken);

    assertEquals(List.of(200, 401, 200, 400), RawRequests.statuses(answers), answers);
    assertEquals(
        List.of("first", "second", "third", "fourth"),
        RawRequests.headers(answers, "x-request-id"),
        answers);
  }

  @Test
  void line_about_a_failed_create_has_the_ids_of_its_request() {
    createPlant.fail(new ArithmeticException("bug"));
    try (Log log = new Log("org.plantstore.adapter.http.ErrorAnswers")) {
      Answer.to(create().header("X-Request-Id", "mine").header("traceparent", TRACE_PARENT));
      Answer.to(create().header("traceparent", "00-" + TRACE_ID));

      List<ILoggingEvent> lines = log.await(2);
      assertEquals(
          Map.of("request_id", "mine", "trace_id", TRACE_ID), lines.get(0).getMDCPropertyMap());
      assertEquals(Set.of("request_id"), lines.get(1).getMDCPropertyMap().keySet());
      assertNotEquals("mine", lines.get(1).getMDCPropertyMap().get("request_id"));
    }
  }

  /** The line about many refused creates at once has none, but the one about the first has. */
  @Test
  void line_about_a_refused_create_has_the_ids_of_its_request() {
    createPlant.fail(new PlantStoreUnavailableException("the database is away"));
    try (Log log = new Log("org.plantstore.adapter.http.ErrorAnswers")) {
      List<ILoggingEvent> lines = List.of();
      while (lines.stream().noneMatch(line -> line.getMDCPropertyMap().containsValue("mine"))) {
        Answer.to(create().header("X-Request-Id", "mine").header("traceparent", TRACE_PARENT));
        lines = List.copyOf(log.await(1));
      }
      assertTrue(
          lines.stream()
              .map(ILoggingEvent::getMDCPropertyMap)
              .anyMatch(Map.of("request_id", "mine", "trace_id", TRACE_ID)::equals));
    }
  }

  @Test
  void line_about_the_identity_provider_has_the_ids_of_the_request_that_needed_it()
      throws Exception {
    ECKey key = new ECKeyGenerator(Curve.P_256).keyID("key").generate();
    String token =
        Tokens.signed(
            new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("key").build(),
            new ECDSASigner(key),
            Tokens.claims().build());
    try (IdentityProvider provider = new IdentityProvider(key);
        EmbeddedServer other =
            ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.jwks-url", provider.url()));
        Log log = new Log("org.plantstore.adapter.http.token.ProviderKeySet")) {
      provider.goDown();

      Answer answer =
          Answer.to(
              Answer.request(other.getURI())
                  .setHeader("Authorization", "Bearer " + token)
                  .header("X-Request-Id", "mine")
                  .header("traceparent", TRACE_PARENT)
                  .POST(HttpRequest.BodyPublishers.ofString(FERN)));

      assertEquals(503, answer.status());
      log.await(1)
          .forEach(line ->
              assertEquals(
                  Map.of("request_id", "mine", "trace_id", TRACE_ID), line.getMDCPropertyMap()));
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
  void trace_parent_names_its_trace(String header) {
    assertEquals(TRACE_ID, traceIdOf(header));
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
        " " + TRACE_PARENT
      })
  void invalid_trace_parent_names_none(String header) {
    assertEquals(null, traceIdOf(header));
    assertEquals(null, traceIdOf(TRACE_PARENT, TRACE_PARENT));
    assertEquals(null, traceIdOf());
  }

  private static @Nullable String traceIdOf(String... parents) {
    DefaultHttpHeadersFactory headers = DefaultHttpHeadersFactory.headersFactory();
    return RequestId.traceIdOf(
        headers.withValidation(false).newHeaders().add("traceparent", List.of(parents)));
  }

  private HttpRequest.Builder create() {
    return Answer.request(server.getURI()).POST(HttpRequest.BodyPublishers.ofString(FERN));
  }

  private static String idOf(Answer answer) {
    return answer.header("X-Request-Id").orElseThrow();
  }

  private static void assertMade(List<String> ids) {
    assertEquals(1, ids.size(), ids::toString);
    assertTrue(ids.get(0).matches(MADE), ids::toString);
  }
}
