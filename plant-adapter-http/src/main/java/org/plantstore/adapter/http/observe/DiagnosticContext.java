package org.plantstore.adapter.http.observe;

import io.micronaut.http.HttpRequest;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * What the log lines of a request have in common. Nothing of it is kept in threads meanwhile, so
 * requests that log nothing pay nothing.
 *
 * @param requestId the request's id, or null if it has none
 * @param traceId the id of the trace that the request belongs to, or null if it names none
 */
public record DiagnosticContext(@Nullable String requestId, @Nullable String traceId) {

  /** The context of no request. */
  public static final DiagnosticContext NONE = new DiagnosticContext(null, null);

  private static final String REQUEST_ID = "request_id";
  private static final String TRACE_ID = "trace_id";

  /** Returns the context of a request. */
  public static DiagnosticContext of(HttpRequest<?> request) {
    Exchange exchange = Exchange.of(request);
    return exchange == null ? NONE : of(exchange);
  }

  static DiagnosticContext of(Exchange exchange) {
    return new DiagnosticContext(exchange.requestId(), exchange.traceId());
  }

  /** Runs what may log lines, each of which has the ids if it comes from this thread. */
  public <T> T supply(Supplier<T> work) {
    put(REQUEST_ID, requestId);
    put(TRACE_ID, traceId);
    try {
      return work.get();
    } finally {
      MDC.remove(REQUEST_ID);
      MDC.remove(TRACE_ID);
    }
  }

  /** Runs what may log lines, each of which has the ids if it comes from this thread. */
  public void run(Runnable work) {
    supply(() -> {
      work.run();
      return true;
    });
  }

  private static void put(String key, @Nullable String value) {
    if (value != null) {
      MDC.put(key, value);
    }
  }
}
