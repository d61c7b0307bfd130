package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Requires;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpMethod;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import io.micronaut.http.filter.ServerFilterPhase;
import io.micronaut.http.server.annotation.PreMatching;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.observe.AllowedOrigins;

/**
 * Allows every request of a page of an allowed origin, before tokens are looked at (Fetch standard,
 * section 3.3.5). The framework would answer an empty 403 where there is no operation, so that the
 * page could not read why its request is refused, and would open the management port too.
 */
@ServerFilter(Filter.MATCH_ALL_PATTERN)
@Requires(property = "cors.allowed-origins") // otherwise no request pays for it
final class PreflightFilter implements Ordered {

  private static final String MAX_AGE_SECONDS = "1800";

  private final AllowedOrigins origins;

  PreflightFilter(AllowedOrigins origins) {
    this.origins = origins;
  }

  @Override
  public int getOrder() {
    return ServerFilterPhase.FIRST.order();
  }

  @PreMatching
  @RequestFilter
  @Nullable HttpResponse<?> allow(HttpRequest<?> request) {
    if (request.getMethod() != HttpMethod.OPTIONS) {
      return null; // goes on
    }
    HttpHeaders asked = request.getHeaders();
    String method = asked.get(HttpHeaders.ACCESS_CONTROL_REQUEST_METHOD);
    if (method == null || !origins.contains(asked.get(HttpHeaders.ORIGIN))) {
      return null;
    }
    MutableHttpResponse<?> allowed =
        HttpResponse.ok()
            .header(HttpHeaders.ACCESS_CONTROL_ALLOW_METHODS, method)
            .header(HttpHeaders.ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
    String headers = asked.get(HttpHeaders.ACCESS_CONTROL_REQUEST_HEADERS);
    return headers == null
        ? allowed
        : allowed.header(HttpHeaders.ACCESS_CONTROL_ALLOW_HEADERS, headers);
  }
}
