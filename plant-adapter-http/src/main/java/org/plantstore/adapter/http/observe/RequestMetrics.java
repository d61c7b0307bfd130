package org.plantstore.adapter.http.observe;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;

/**
 * Records the duration of each request, and passes the request on to the access log. All time
 * series exist from startup, because otherwise, a rate would omit the first request of a series.
 * Safe for use by multiple threads.
 */
@Singleton
final class RequestMetrics implements Consumer<RequestRecord> {

  /** The histogram buckets: narrow up to 10 ms (the goal for the 99th percentile), then wide. */
  private static final Duration[] BUCKETS =
      DoubleStream.of(1, 2.5, 5, 10, 25, 50, 100, 250, 1_000, 5_000)
          .mapToObj(millis -> Duration.ofNanos((long) (millis * 1_000_000)))
          .toArray(Duration[]::new);

  enum Outcome {
    CREATED,
    SERVED,
    /** The response reports a client error (4xx). */
    REFUSED,
    /** The response reports a server error (5xx). */
    FAILED,
    /** The connection was closed before the response was complete. */
    UNANSWERED;

    static Outcome of(RequestRecord record) {
      HttpResponseStatus status = record.status();
      if (status == null || !record.isResponseComplete()) {
        return UNANSWERED;
      }
      return switch (status.codeClass()) {
        case CLIENT_ERROR -> REFUSED;
        case SERVER_ERROR -> FAILED;
        default -> record.method().equals(HttpMethod.POST) ? CREATED : SERVED;
      };
    }
  }

  /** One timer for each error, and one for each outcome of requests without an error. */
  private final Map<Object, Timer> timers = new HashMap<>();

  RequestMetrics(@Nullable MeterRegistry registry) {
    MeterRegistry present = registry == null ? new CompositeMeterRegistry() : registry;
    for (Outcome outcome : Outcome.values()) {
      timers.put(outcome, timer(present, outcome, "none"));
    }
    for (ErrorNumber error : ErrorNumber.values()) {
      Outcome outcome = error.status().getCode() < 500 ? Outcome.REFUSED : Outcome.FAILED;
      timers.put(error, timer(present, outcome, String.valueOf(error.number())));
    }
  }

  private static Timer timer(MeterRegistry registry, Outcome outcome, String error) {
    return Timer.builder("plant.store.requests")
        .description("Time from receiving a request's headers to the end of its response")
        .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
        .tag("error", error)
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  @Override
  public void accept(RequestRecord record) {
    ErrorNumber error = record.error();
    Outcome outcome = Outcome.of(record);
    Duration duration = record.age();
    requireNonNull(timers.get(error == null ? outcome : error)).record(duration);
    AccessLog.log(record, outcome, duration);
  }
}
