package org.plantstore.adapter.http.document;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.ServerTest;
import org.yaml.snakeyaml.Yaml;

class DocumentsTest extends ServerTest {

  @ParameterizedTest
  @CsvSource({
    "/, text/html; charset=utf-8",
    "/errors, text/html; charset=utf-8",
    "/openapi.yaml, application/yaml",
    "/openapi.json, application/json",
    "/page/page.css, text/css; charset=utf-8",
    "/page/page.js, text/javascript; charset=utf-8",
    "/page/swagger-ui.css, text/css; charset=utf-8",
    "/page/swagger-ui-bundle.js, text/javascript; charset=utf-8",
    "/page/swagger-ui-bundle.js.LICENSE.txt, text/plain; charset=utf-8"
  })
  void document_is_served_to_everyone_and_trusts_this_service_alone(String path, String type) {
    Answer answer = get(path, "Authorization", "Bearer a.b.c");

    assertEquals(200, answer.status());
    assertEquals(Optional.of(type), answer.header("Content-Type"));
    assertTrue(answer.body().length() > 100, "it has content");
    assertEquals(
        Optional.of(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
                + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        answer.header("Content-Security-Policy"));
    assertEquals(Optional.of("nosniff"), answer.header("X-Content-Type-Options"));
    assertEquals(Optional.of("no-referrer"), answer.header("Referrer-Policy"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/page/", "/page/page.html", "/page/%2e%2e", "/errors/"})
  void nothing_else_is_served(String path) {
    assertEquals(404, Answer.to(authenticated(path)).status());
  }

  @Test
  void document_is_the_one_that_was_written_in_both_formats() {
    assertEquals(Answer.DOCUMENT, get("/openapi.yaml").body());
    // JSON is YAML.
    Object document = new Yaml().load(Answer.DOCUMENT);
    assertEquals(document, new Yaml().load(get("/openapi.json").body()));
  }

  @Test
  void document_is_not_sent_again_unless_it_has_changed() {
    String tag = get("/openapi.yaml").header("ETag").orElseThrow();

    for (String known : List.of("\"other\", " + tag, "W/" + tag, "*")) {
      Answer unchanged = get("/openapi.yaml", "If-None-Match", known);
      assertEquals(304, unchanged.status(), known);
      assertEquals(Optional.of(tag), unchanged.header("ETag"));
    }
    Answer changed = get("/openapi.json", "If-None-Match", tag);
    assertEquals(200, changed.status());
    assertEquals(Optional.of("no-cache"), changed.header("Cache-Control"));
  }

  @Test
  void page_of_errors_has_the_entries_of_the_catalogue_and_no_other() {
    Pattern entry =
        Pattern.compile(
            "<section id=\"(.*)\">\\s*<h2><a href=\"#\\1\">(\\1)</a> <small>(.*)</small></h2>\\s*"
                + "<p><strong>(.*)</strong></p>\\s*<dl>\\s*<dt>Cause</dt><dd>.+</dd>\\s*"
                + "<dt>Cure</dt><dd>.+</dd>\\s*</dl>\\s*</section>");

    assertEquals(
        OpenApiTest.catalogue("%d, %d %s: %s"),
        entry
            .matcher(get("/errors").body())
            .results()
            .map(found -> found.group(2) + ", " + found.group(3) + ": " + found.group(4))
            .toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"/plants", "/plants/", "/a/b/c?d=/e/"})
  void error_links_to_its_entry_from_wherever_it_is_answered(String path) {
    HttpRequest.Builder request = anonymous(path).POST(BodyPublishers.noBody());

    String link = Answer.to(request).header("Link").orElseThrow();
    URI help = request.build().uri().resolve(link.substring(1, link.indexOf('>')));
    assertEquals(server.getURI() + "/errors#4001", help.toString());
  }

  private Answer get(String path) {
    return Answer.to(anonymous(path));
  }

  private Answer get(String path, String header, String value) {
    return Answer.to(anonymous(path).header(header, value));
  }
}
