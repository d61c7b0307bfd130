package org.plantstore.adapter.http.cors;

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

/**
 * Responds to CORS preflight requests (Fetch standard, section 3.3.5) before tokens are checked.
 * Web pages from an allowed origin may send any request. Preflight requests from other origins are
 * rejected. The framework's CORS filter is not used, because it would also allow cross-origin
 * requests to the management port. The framework's filter would also reject preflight requests for
 * unknown paths with status 403, without a body that explains the error.
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
      return null; // continues with the next filter
    }
    HttpHeaders headers = request.getHeaders();
    String method = headers.get(HttpHeaders.ACCESS_CONTROL_REQUEST_METHOD);
    String origin = headers.get(HttpHeaders.ORIGIN);
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
    String requested = headers.get(HttpHeaders.ACCESS_CONTROL_REQUEST_HEADERS);
    return requested == null
        ? allowed
        : allowed.header(HttpHeaders.ACCESS_CONTROL_ALLOW_HEADERS, requested);
  }
}
