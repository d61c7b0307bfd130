package org.plantstore.adapter.http.token;

import io.micronaut.context.annotation.Property;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import io.micronaut.http.filter.ServerFilterPhase;
import io.micronaut.security.authentication.Authentication;
import io.micronaut.security.rules.SecurityRule;
import io.micronaut.security.rules.SecurityRuleResult;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.RequestRecord;
import reactor.core.publisher.Mono;

/**
 * Applies the {@link SecurityRule}s to each request and its bearer token. This filter replaces
 * micronaut-security's {@code SecurityFilter}, which uses more CPU time. In three benchmark runs
 * with 64 connections, a {@code POST /plants} request took 1.25 to 1.44 times as much CPU time with
 * {@code SecurityFilter} and a {@code TokenValidator} as it did with this filter. With an {@code
 * AuthenticationFetcher} instead of the validator, the request still took 0.95 to 1.25 times as
 * much CPU time as with this filter. {@code SecurityFilter} also validates the token in a request
 * for a public document. While the identity provider is down, {@code SecurityFilter} could
 * therefore reject a request for a public document even if the token in the request is valid. Safe
 * for use by multiple threads.
 */
@ServerFilter(Filter.MATCH_ALL_PATTERN)
final class TokenFilter implements Ordered {

  private static final String SCHEME = "Bearer ";
  private static final Pattern BARE_TOKEN = Pattern.compile("(?i)(?!bearer)[\\w.-]+");

  private final List<SecurityRule<HttpRequest<?>>> rules;
  private final TokenValidation validation;
  private final ValidatedTokens validatedTokens;
  private final int managementPort;

  TokenFilter(
      List<SecurityRule<HttpRequest<?>>> rules,
      TokenValidation validation,
      ValidatedTokens validatedTokens,
      @Property(name = "endpoints.all.port", defaultValue = "0") int managementPort) {
    this.rules = rules;
    this.validation = validation;
    this.validatedTokens = validatedTokens;
    this.managementPort = managementPort;
  }

  @Override
  public int getOrder() {
    return ServerFilterPhase.SECURITY.order();
  }

  /**
   * Returns a {@link CompletionStage} that completes with the request if the request is allowed. If
   * the request is rejected, either this method throws a RefusedException, or the {@code
   * CompletionStage} fails with one. The type of the result is not {@code Void}, because the
   * framework would not wait for a {@code CompletionStage} of {@code Void}.
   */
  @RequestFilter
  CompletionStage<HttpRequest<?>> requireToken(HttpRequest<?> request) {
    if (request.getServerAddress().getPort() == managementPort) {
      requireAllowed(request, null);
      return CompletableFuture.completedFuture(request);
    }
    List<String> headers = request.getHeaders().getAll(HttpHeaders.AUTHORIZATION);
    String text = headers.size() == 1 ? token(headers.get(0)) : "";
    ValidToken token = text.isEmpty() ? null : validatedTokens.get(text);
    if (token != null) {
      admit(request, token);
    } else if (!isAllowed(request, null)) {
      if (text.isEmpty()) {
        throw new RefusedException(ErrorNumber.NO_TOKEN, fault(headers));
      }
      return validation
          .validate(text)
          .thenApply(valid -> {
            admit(request, valid);
            validatedTokens.add(text, valid);
            return request;
          });
    }
    return CompletableFuture.completedFuture(request);
  }

  /** Returns the Authorization header's token (RFC 6750, section 2.1), or "" if there is none. */
  private static String token(String header) {
    return header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        ? header.substring(SCHEME.length()).strip()
        : "";
  }

  /** Returns the message for a request whose headers do not contain exactly one token. */
  private static String fault(List<String> headers) {
    if (headers.isEmpty()) {
      return ErrorNumber.NO_TOKEN.description();
    }
    if (headers.size() > 1) {
      return "The request has " + headers.size() + " Authorization headers; send only one.";
    }
    return BARE_TOKEN.matcher(headers.get(0).strip()).matches()
        ? "The Authorization header has no scheme; write \"Bearer \" before the token."
        : "The Authorization header must consist of the word \"Bearer\", one space, and the token,"
            + " without a colon or quotation marks.";
  }

  private void admit(HttpRequest<?> request, ValidToken token) {
    RequestRecord.of(request).recordCaller(token.caller());
    requireAllowed(request, token);
  }

  /**
   * Throws a RefusedException unless the rules allow the request. The status is 404 instead of 403,
   * to hide that the path exists (RFC 9110, section 15.5.4).
   */
  private void requireAllowed(HttpRequest<?> request, @Nullable Authentication caller) {
    if (!isAllowed(request, caller)) {
      throw new RefusedException(ErrorNumber.NOT_FOUND);
    }
  }

  /**
   * Returns whether the rules allow the request. The decision is made by the first rule that either
   * allows or rejects the request. If a rule does not provide its result immediately, the request
   * is rejected, because waiting for the result would block the event loop. A request that no rule
   * allows or rejects is allowed only if it contains a valid token.
   */
  private boolean isAllowed(HttpRequest<?> request, @Nullable Authentication caller) {
    for (SecurityRule<HttpRequest<?>> rule : rules) {
      SecurityRuleResult result =
          Mono.from(rule.check(request, caller)).toFuture().getNow(SecurityRuleResult.REJECTED);
      if (result == SecurityRuleResult.ALLOWED || result == SecurityRuleResult.REJECTED) {
        return result == SecurityRuleResult.ALLOWED;
      }
    }
    return caller != null;
  }
}
