package org.plantstore.adapter.http.observe;

import io.micronaut.http.HttpRequest;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * What the log lines of a request have in common. Behind the handlers of a connection every request
 * has its id in a header, so it takes nothing but the request to log under its name; and as nothing
 * is kept in threads meanwhile, requests that log nothing pay nothing.
 *
 * @param requestId the request's id, or null if it has none
 * @param traceId the id of the trace that the request belongs to, or null if it names none
 */
public record DiagnosticContext(@Nullable String requestId, @Nullable String traceId) {

  private static final String REQUEST_ID = "request_id";
  private static final String TRACE_ID = "trace_id";

  /** That of no request. */
  public static final DiagnosticContext NONE = new DiagnosticContext(null, null);

  public static DiagnosticContext of(HttpRequest<?> request) {
    return new DiagnosticContext(
        request.getHeaders().get(RequestId.HEADER),
        TraceParent.traceIdOf(request.getHeaders().getAll(TraceParent.HEADER)));
  }

  /** Does what may log lines; each of this thread has the ids. */
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

  /** Does what logs lines; each of this thread has the ids. */
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
