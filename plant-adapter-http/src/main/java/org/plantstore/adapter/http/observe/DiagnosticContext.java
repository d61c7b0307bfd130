package org.plantstore.adapter.http.observe;

import io.micronaut.http.HttpRequest;
import java.util.function.Supplier;
import org.slf4j.MDC;

/** The ids that the log lines of a request have. The MDC has them only during work that may log. */
public final class DiagnosticContext {

  private static final String REQUEST_ID = "request_id";
  private static final String TRACE_ID = "trace_id";

  private DiagnosticContext() {}

  /** Runs work for a request; each line that it logs from this thread has the request's ids. */
  public static <T> T supply(HttpRequest<?> request, Supplier<T> work) {
    Exchange exchange = Exchange.of(request);
    return exchange == null ? work.get() : supply(exchange, work);
  }

  static <T> T supply(Exchange exchange, Supplier<T> work) {
    String traceId = RequestId.traceIdOf(exchange.headers());
    MDC.put(REQUEST_ID, exchange.requestId());
    if (traceId != null) {
      MDC.put(TRACE_ID, traceId);
    }
    try {
      return work.get();
    } finally {
      MDC.remove(REQUEST_ID);
      MDC.remove(TRACE_ID);
    }
  }
}
