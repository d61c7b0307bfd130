package org.plantstore.adapter.http;

import io.micronaut.context.annotation.Property;
import io.micronaut.core.annotation.Order;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpMethod;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Filter;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.AllowedOrigins;

/**
 * Answers preflight requests before tokens are checked (Fetch standard, section 3.3.5): allows
 * every request from an allowed origin, and refuses any other origin. The framework would answer an
 * empty 403 where there is no operation, so that the page could not read why its request is
 * refused, and would open the management port too, where this filter answers nothing.
 */
@ServerFilter(Filter.MATCH_ALL_PATTERN)
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PreflightFilter {

  private static final String MAX_AGE_SECONDS = "1800";

  private final AllowedOrigins origins;
  private final int managementPort;

  PreflightFilter(
      AllowedOrigins origins,
      @Property(name = "endpoints.all.port", defaultValue = "0") int managementPort) {
    this.origins = origins;
    this.managementPort = managementPort;
  }

  @RequestFilter
  @Nullable HttpResponse<?> allow(HttpRequest<?> request) {
    if (request.getMethod() != HttpMethod.OPTIONS
        || request.getServerAddress().getPort() == managementPort) {
      return null; // goes on
    }
    HttpHeaders asked = request.getHeaders();
    String method = asked.get(HttpHeaders.ACCESS_CONTROL_REQUEST_METHOD);
    String origin = asked.get(HttpHeaders.ORIGIN);
    if (method == null || origin == null) {
      return null;
    }
    if (!origins.contains(origin)) {
      throw new RefusedException(ErrorNumber.ORIGIN_NOT_ALLOWED, AllowedOrigins.refusal(origin));
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
