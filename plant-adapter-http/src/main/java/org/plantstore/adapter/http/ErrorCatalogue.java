package org.plantstore.adapter.http;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The catalogue as a page for people: each error with its cause and its cure, under its number. */
final class ErrorCatalogue {

  /** No address has more, and a reference must not become larger than what it answers. */
  private static final int MAX_DEPTH = 32;

  private ErrorCatalogue() {}

  static String page() {
    String entries =
        Arrays.stream(ErrorNumber.values())
            .map(ErrorCatalogue::entry)
            .collect(Collectors.joining());
    return """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Errors of the plant store</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="page/page.css">
    </head>
    <body>
    <main class="catalogue">
    <h1>Errors of the plant store</h1>
    <p>Programs decide by the number, which never changes its meaning.
    <a href=".">The interface</a></p>
    %s</main>
    </body>
    </html>
    """
        .formatted(entries);
  }

  /**
   * Answers the value of a {@code Link} header (RFC 8288) to an error's entry.
   *
   * @param path the path that was asked for; the reference is relative to it
   */
  static String link(ErrorNumber error, String path) {
    return "<" + "../".repeat(depthOf(path)) + "errors#" + error.number() + ">; rel=\"help\"";
  }

  /** Answers the error that a {@link #link} leads to, or null if it leads to none. */
  static @Nullable ErrorNumber linked(@Nullable String link) {
    return link == null
        ? null
        : Arrays.stream(ErrorNumber.values())
            .filter(error -> link.contains("errors#" + error.number() + ">"))
            .findFirst()
            .orElse(null);
  }

  /** Answers how many folders a path is below the base address, or is taken to be. */
  static int depthOf(String path) {
    long depth = path.chars().skip(1).filter(character -> character == '/').count();
    return (int) Math.min(depth, MAX_DEPTH);
  }

  private static String entry(ErrorNumber error) {
    return """
    <section id="%1$d">
    <h2><a href="#%1$d">%1$d</a> <small>%2$d %3$s</small></h2>
    <p><strong>%4$s</strong></p>
    <dl>
    <dt>Cause</dt><dd>%5$s</dd>
    <dt>Cure</dt><dd>%6$s</dd>
    </dl>
    </section>
    """
        .formatted(
            error.number(),
            error.status().getCode(),
            error.status().getReason(),
            error.description(),
            error.cause(),
            error.cure());
  }
}
