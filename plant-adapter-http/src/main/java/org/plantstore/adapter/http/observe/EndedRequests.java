package org.plantstore.adapter.http.observe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import jakarta.inject.Singleton;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the duration of each request that has ended, and writes a line about it to the access log
 * unless that log is disabled. The line contains no token, query, or body, and its values are short
 * and printable. All time series are created at startup with the value 0. If the first request
 * created its time series, the series would begin with 1, so a rate calculated from the series
 * would not include that request. Safe for use by multiple threads.
 */
@Singleton
final class EndedRequests implements Consumer<RequestRecord> {

  static final String ACCESS_LOG = "org.plantstore.access";

  private static final Logger LOG = LoggerFactory.getLogger(ACCESS_LOG);
  private static final String NONE = "-";

  /** Matches a space, a quotation mark, a backslash, or any character outside printable ASCII. */
  private static final Pattern ILLEGIBLE = Pattern.compile("[^!#-\\[\\]-~]");

  /**
   * Matches {@code *} or a path that is safe to log. A safe path begins with a single slash and
   * contains no "?", "#", or "@", not even in percent-encoded form.
   */
  private static final Pattern PATH =
      Pattern.compile("(?is)(?!.*(?:%3f|%23|%40))(?:/(?!/)[^@]*|\\*)");

  /** Matches percent signs and all characters that {@link #ILLEGIBLE} matches. */
  private static final Pattern UNESCAPED = Pattern.compile("[^!#$&-\\[\\]-~]+");

  /** Buckets up to 10 ms are narrow, because 10 ms is the goal for the 99th percentile. */
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

    /** Returns the outcome's name, as used in metrics and in the access log. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** One timer for each error, and one for each outcome of requests that ended without an error. */
  private final Map<Object, Timer> timers = new HashMap<>();

  EndedRequests(@Nullable MeterRegistry registry) {
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
        .tag("outcome", outcome.label())
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
    if (LOG.isInfoEnabled()) {
      record.runWithIds(() -> log(record, outcome, duration));
    }
  }

  private static void log(RequestRecord record, Outcome outcome, Duration duration) {
    ErrorNumber error = record.error();
    HttpResponseStatus status = record.status();
    String path = record.path();
    LOG.atInfo()
        .addKeyValue("method", legible(record.method().name(), 16))
        .addKeyValue("path", PATH.matcher(path).matches() ? legible(path, 256) : NONE)
        .addKeyValue("status", status == null ? NONE : status.code())
        .addKeyValue("error", error == null ? NONE : error.number())
        .addKeyValue("outcome", outcome.label())
        .addKeyValue("duration_ms", BigDecimal.valueOf(duration.toNanos() / 1_000, 3))
        .addKeyValue("bytes", record.responseBytes())
        .addKeyValue("caller", record.caller().isEmpty() ? NONE : escaped(record.caller()))
        .log("request");
  }

  /** Escapes characters, because replacing them with "?" could make different names look alike. */
  private static String escaped(String name) {
    return UNESCAPED
        .matcher(name.substring(0, Math.min(name.length(), 128)))
        .replaceAll(match -> URLEncoder.encode(match.group(), UTF_8).replace("+", "%20"));
  }

  private static String legible(String text, int maxCharacters) {
    String bounded =
        text.length() <= maxCharacters ? text : text.substring(0, maxCharacters) + "...";
    return ILLEGIBLE.matcher(bounded).replaceAll("?");
  }
}
