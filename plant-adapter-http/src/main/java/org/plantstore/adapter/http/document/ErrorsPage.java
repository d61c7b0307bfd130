package org.plantstore.adapter.http.document;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.plantstore.adapter.http.error.ErrorNumber;

/** The page of errors for people: each error with its cause and its cure, under its number. */
final class ErrorsPage {

  private ErrorsPage() {}

  /** Returns the page as HTML. */
  static String html() {
    String entries =
        Arrays.stream(ErrorNumber.values()).map(ErrorsPage::entry).collect(Collectors.joining());
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
