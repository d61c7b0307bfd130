package org.plantstore.adapter.http.observe;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.observe.RequestMetrics.Outcome;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs each request without its token, query, or body. Logged values are short and printable. */
final class AccessLog {

  static final String NAME = "org.plantstore.access";

  private static final Logger LOG = LoggerFactory.getLogger(NAME);
  private static final String NONE = "-";

  /** Matches a character that is not printable ASCII, or a space, quotation mark, or backslash. */
  private static final Pattern ILLEGIBLE = Pattern.compile("[^!#-\\[\\]-~]");

  /** Matches a path without a user name, query, or fragment, even a percent-encoded one. */
  private static final Pattern PATH =
      Pattern.compile("(?is)(?!.*(?:%3f|%23|%40))(?:/(?!/)[^@]*|\\*)");

  /** Matches the characters to escape: those that {@link #ILLEGIBLE} matches, and percent signs. */
  private static final Pattern UNESCAPED = Pattern.compile("[^!#$&-\\[\\]-~]+");

  private AccessLog() {}

  /** Logs a request that has ended, unless the access log is disabled. */
  static void log(RequestRecord record, Outcome outcome, Duration duration) {
    if (LOG.isInfoEnabled()) {
      record.runWithIds(() -> write(record, outcome, duration));
    }
  }

  private static void write(RequestRecord record, Outcome outcome, Duration duration) {
    ErrorNumber error = record.error();
    HttpResponseStatus status = record.status();
    LOG.atInfo()
        .addKeyValue("method", legible(record.method().name(), 16))
        .addKeyValue("path", path(record))
        .addKeyValue("status", status == null ? NONE : status.code())
        .addKeyValue("error", error == null ? NONE : error.number())
        .addKeyValue("outcome", outcome.name().toLowerCase(Locale.ROOT))
        .addKeyValue("duration_ms", BigDecimal.valueOf(duration.toNanos() / 1_000, 3))
        .addKeyValue("bytes", record.responseBytes())
        .addKeyValue("caller", record.caller().isEmpty() ? NONE : escaped(record.caller()))
        .log("request");
  }

  private static String path(RequestRecord record) {
    String path = record.path();
    return PATH.matcher(path).matches() ? legible(path, 256) : NONE;
  }

  /** Percent-encodes characters, because replacing them with "?" could make names ambiguous. */
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
