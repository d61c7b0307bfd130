package org.plantstore.adapter.http.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.json.JsonMapper;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.annotation.Secured;
import io.micronaut.security.rules.SecurityRule;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.webjars.WebJarVersionLocator;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Serves the OpenAPI document, the page that shows it and sends requests, and the page of errors.
 * The framework's static resources have no entity tags, need a filter for the policy below, and
 * occupy a thread for each client that does not read. Here all answers share one buffer.
 */
@Controller
@Secured(SecurityRule.IS_ANONYMOUS)
final class DocumentsController {

  /** Allows scripts and styles only of this service, and images also within the styles. */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final Map<String, Document> documents = new ConcurrentHashMap<>();
  private final JsonMapper json;

  DocumentsController(JsonMapper json) {
    this.json = json;
  }

  @Get(
      uris = {
        "/",
        "/errors",
        "/openapi.yaml",
        "/openapi.json",
        "/page/page.css",
        "/page/page.js",
        "/page/swagger-ui.css",
        "/page/swagger-ui-bundle.js",
        "/page/swagger-ui-bundle.js.LICENSE.txt"
      })
  @ExecuteOn(TaskExecutors.IO)
  HttpResponse<ByteBuf> get(HttpRequest<?> request) {
    Document document = documents.computeIfAbsent(request.getPath(), this::document);
    return (document.isKnownTo(request) ? HttpResponse.<ByteBuf>notModified() : document.response())
        .header(HttpHeaders.ETAG, document.tag)
        // Revalidated each time, so that no document of an earlier version is shown.
        .header(HttpHeaders.CACHE_CONTROL, "no-cache")
        .header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        .header("Referrer-Policy", "no-referrer");
  }

  private Document document(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    return switch (path) {
      case "/" -> Document.of("text/html; charset=utf-8", resource("page.html"));
      case "/errors" -> Document.of("text/html; charset=utf-8", resource("errors.html"));
      case "/openapi.yaml" -> Document.of("application/yaml", resource(name)); // RFC 9512
      case "/openapi.json" -> Document.of(MediaType.APPLICATION_JSON, toJson("openapi.yaml"));
      case "/page/page.css", "/page/swagger-ui.css" ->
          Document.of("text/css; charset=utf-8", resource(name));
      case "/page/page.js", "/page/swagger-ui-bundle.js" ->
          Document.of("text/javascript; charset=utf-8", resource(name));
      case "/page/swagger-ui-bundle.js.LICENSE.txt" ->
          Document.of("text/plain; charset=utf-8", resource(name));
      // The router ignores a trailing slash, which would break relative references.
      default -> throw new RefusedException(ErrorNumber.NOT_FOUND);
    };
  }

  private byte[] toJson(String yaml) {
    try {
      Yaml reader = new Yaml(new SafeConstructor(new LoaderOptions()));
      return json.writeValueAsBytes(reader.load(new String(resource(yaml), UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] resource(String name) {
    boolean isLibrary = name.startsWith("swagger-ui");
    String path = isLibrary ? "/" + new WebJarVersionLocator().fullPath("swagger-ui", name) : name;
    try (InputStream resource = DocumentsController.class.getResourceAsStream(path)) {
      return requireNonNull(resource, path + " is not on the class path").readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A document in a buffer that is never released. */
  private record Document(MediaType type, ByteBuf content, String tag) {

    static Document of(String type, byte[] bytes) {
      // Off the heap, because a connection would copy a heap buffer for every unfinished answer.
      ByteBuf content = Unpooled.directBuffer(bytes.length, bytes.length).writeBytes(bytes);
      return new Document(
          new MediaType(type),
          Unpooled.unreleasableBuffer(content.asReadOnly()),
          "\"" + UUID.nameUUIDFromBytes(bytes) + "\"");
    }

    MutableHttpResponse<ByteBuf> response() {
      return HttpResponse.ok(content.duplicate())
          .contentType(type)
          .contentLength(content.readableBytes()); // for HEAD, too
    }

    /** Returns whether the client has the document, by the weak comparison of RFC 9110, 13.1.2. */
    boolean isKnownTo(HttpRequest<?> request) {
      String header = String.join(",", request.getHeaders().getAll(HttpHeaders.IF_NONE_MATCH));
      return header.strip().equals("*") || header.contains(tag);
    }
  }
}
