package org.plantstore.adapter.http.token;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.token.SecretTokensTest.isValid;
import static org.plantstore.adapter.http.token.SecretTokensTest.validation;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;

/** Tests a server whose identity provider replaces its keys, is down, or is under attack. */
@Tag("newest")
class ProviderTokensTest {

  private static final ECKey KNOWN = IdentityProvider.key(Curve.P_256, "known");
  private static final ECKey NEXT = IdentityProvider.key(Curve.P_256, "next");

  @AutoClose private final IdentityProvider provider = new IdentityProvider(KNOWN);

  @AutoClose
  private final EmbeddedServer server =
      ApplicationContext.run(EmbeddedServer.class, Map.of("jwt.jwks-url", provider.url()));

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void cached_token_is_invalid_as_soon_as_its_key_is_known_to_be_withdrawn() {
    String cached = token(KNOWN);
    assertStatus(200, cached);
    provider.publish(NEXT);
    assertStatus(200, cached);
    assertEquals(1, provider.fetches(), "fetches of the key set");

    assertStatus(200, token(NEXT)); // causes a fetch
    assertEquals(2, provider.fetches(), "fetches of the key set");
    assertStatus(401, cached);
  }

  @Test
  void key_replaced_under_the_same_kid_is_fetched_once_despite_forged_tokens() {
    assertStatus(200, token(KNOWN));
    ECKey replacement = IdentityProvider.key(Curve.P_256, KNOWN.getKeyID());
    provider.publish(replacement);
    assertStatus(200, token(replacement));
    for (String forged : List.of(token(KNOWN), IdentityProvider.token(KNOWN.getKeyID(), NEXT))) {
      String message =
          "The bearer token is not signed with a key that this service or its identity provider"
              + " uses; obtain a new token, and send it unchanged. If the provider has just replaced its"
              + " key, repeat the request after 30 s.";
      Answer.assertError(Answer.create(server.getURI(), forged), 401, 4002, message);
    }
    assertEquals(2, provider.fetches(), "fetches of the key set");
    assertStatus(200, token(replacement));
  }

  @Test
  void malformed_token_or_token_for_another_audience_causes_no_fetch() {
    TokenValidation strict =
        validation(Map.of("jwt.jwks-url", provider.url(), "jwt.audience", "plants"));
    for (String token : List.of("a.b.c", "e30.e30.AA", token(NEXT))) {
      assertFalse(isValid(strict, token));
    }
    assertEquals(0, provider.fetches());
  }

  @Test
  void many_forged_signatures_occupy_only_two_threads_and_a_limited_queue() throws Exception {
    TokenValidation validation = validation(Map.of("jwt.jwks-url", provider.url()));
    validation.validate(token(KNOWN)).get(1, TimeUnit.MINUTES);
    String forged = IdentityProvider.token(KNOWN.getKeyID(), NEXT);
    CountDownLatch occupied = new CountDownLatch(2);
    CountDownLatch sent = new CountDownLatch(1);
    Set<Thread> permitted = ConcurrentHashMap.newKeySet();
    for (int thread = 0; thread < 2; thread++) {
      validation.verification.execute(() -> {
        permitted.add(Thread.currentThread());
        occupied.countDown();
        assertDoesNotThrow(() -> sent.await());
      });
    }
    occupied.await();
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    List<CompletableFuture<ErrorNumber>> ends =
        IntStream.range(0, 1_200)
            .mapToObj(number ->
                validation
                    .validate(forged)
                    .handle((claims, failure) -> {
                      threads.add(Thread.currentThread());
                      return assertInstanceOf(RefusedException.class, failure.getCause()).error();
                    }))
            .toList();
    sent.countDown();
    List<ErrorNumber> errors = new ArrayList<>();
    for (CompletableFuture<ErrorNumber> end : ends) {
      errors.add(end.get(1, TimeUnit.MINUTES));
    }

    assertEquals(1_200 - 1_024, Collections.frequency(errors, ErrorNumber.OVERLOADED));
    assertEquals(1_024, Collections.frequency(errors, ErrorNumber.INVALID_TOKEN));
    threads.removeIf(
        each -> each.equals(Thread.currentThread()) || each.getName().startsWith("key-set"));
    assertTrue(permitted.containsAll(threads), threads::toString);
  }

  @Test
  void known_keys_and_documents_remain_available_while_the_provider_is_down() {
    assertStatus(200, token(KNOWN));
    provider.goDown();
    try (Log log = new Log(ProviderKeys.class.getName())) {
      assertStatus(503, token(NEXT));
      String line = log.await(1).get(0).getFormattedMessage();
      String start =
          "The key set at JWT_JWKS_URL cannot be fetched: the response from \"localhost:";
      assertTrue(line.startsWith(start), line);
    }

    String message =
        "The service cannot verify the token at the moment, because it has not received a matching"
            + " key from the identity provider; send the same request again later.";
    Set<String> pauses = new HashSet<>();
    for (int time = 0; time < 50; time++) {
      Answer unavailable = Answer.create(server.getURI(), token(NEXT));
      Answer.assertError(unavailable, 503, 5004, message);
      pauses.add(unavailable.header("Retry-After").orElse(""));
    }
    assertEquals(Set.of("1", "2", "3"), pauses);
    assertStatus(200, token(KNOWN));
    assertStatus(401, IdentityProvider.token(KNOWN.getKeyID(), NEXT));

    HttpRequest.Builder document = HttpRequest.newBuilder(server.getURI().resolve("/errors"));
    document.header("Authorization", "Bearer " + token(NEXT));
    assertEquals(200, Answer.to(document).status());
  }

  private static String token(ECKey key) {
    return IdentityProvider.token(key.getKeyID(), key);
  }

  private void assertStatus(int status, String token) {
    assertEquals(status, Answer.create(server.getURI(), token).status());
  }
}
