package org.plantstore.adapter.http.observe;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Pattern;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a line for every exchange at level info, without secrets such as tokens, queries and
 * bodies, and with bounded, printable values. Safe for use by many threads.
 */
final class AccessLog {

  static final String LOGGER = "org.plantstore.access";

  private static final Logger LOG = LoggerFactory.getLogger(LOGGER);
  private static final String NONE = "-";

  /** All characters but printable ASCII, and of that the space, the quote and the backslash. */
  private static final Pattern ILLEGIBLE = Pattern.compile("[^!#-\\[\\]-~]");

  /** A path without a user, a query or a fragment, even an escaped one. */
  private static final Pattern PATH =
      Pattern.compile("(?!.*(?:%3f|%23|%40))(?:/(?!/)[^@]*|\\*)", Pattern.CASE_INSENSITIVE);

  private static final int MAX_METHOD_CHARACTERS = 16;
  private static final int MAX_PATH_CHARACTERS = 256;

  static void record(Exchange exchange) {
    if (LOG.isInfoEnabled()) {
      DiagnosticContext.supply(exchange, () -> write(exchange));
    }
  }

  private static Exchange write(Exchange exchange) {
    String path = exchange.path();
    HttpResponseStatus status = exchange.status();
    ErrorNumber error = exchange.error();
    LOG.atInfo()
        .addKeyValue("method", legible(exchange.method().name(), MAX_METHOD_CHARACTERS))
        .addKeyValue(
            "path", PATH.matcher(path).matches() ? legible(path, MAX_PATH_CHARACTERS) : NONE)
        .addKeyValue("status", status == null ? NONE : status.code())
        .addKeyValue("error", error == null ? NONE : error.number())
        .addKeyValue("outcome", exchange.outcome().name().toLowerCase(Locale.ROOT))
        .addKeyValue("duration_ms", BigDecimal.valueOf(exchange.duration().toNanos() / 1_000, 3))
        .addKeyValue("bytes", exchange.answeredBytes())
        .log("request");
    return exchange;
  }

  private static String legible(String text, int maxCharacters) {
    String bounded =
        text.length() <= maxCharacters ? text : text.substring(0, maxCharacters) + "...";
    return ILLEGIBLE.matcher(bounded).replaceAll("?");
  }
}
