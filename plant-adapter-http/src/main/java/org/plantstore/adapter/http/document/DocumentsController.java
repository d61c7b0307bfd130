package org.plantstore.adapter.http.document;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
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
import java.util.concurrent.ConcurrentHashMap;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.webjars.WebJarVersionLocator;

/**
 * Serves the OpenAPI document, the API console page, and the error page. All responses that contain
 * the same document share one buffer. The framework's support for static resources is not used,
 * because it would require a filter that adds the content security policy, and because it would
 * occupy a thread for each client that stops reading. Safe for use by multiple threads.
 */
@Controller
@Secured(SecurityRule.IS_ANONYMOUS)
final class DocumentsController {

  /** Allows content only from this service, except for images embedded in style sheets. */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** The media types of documents, by file name extension. */
  private static final Map<String, String> MEDIA_TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "yaml", "application/yaml", // RFC 9512
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "txt", "text/plain; charset=utf-8");

  private final Map<String, Document> documents = new ConcurrentHashMap<>();

  @Get(
      uris = {
        "/",
        "/errors",
        "/openapi.yaml",
        "/page/page.css",
        "/page/page.js",
        "/page/swagger-ui.css",
        "/page/swagger-ui-bundle.js",
        "/page/swagger-ui-bundle.js.LICENSE.txt"
      })
  @ExecuteOn(TaskExecutors.IO)
  HttpResponse<ByteBuf> get(HttpRequest<?> request) {
    Document document =
        documents.computeIfAbsent(nameOf(request.getPath()), DocumentsController::document);
    return HttpResponse.ok(document.content().duplicate())
        .contentType(document.type())
        .contentLength(document.content().readableBytes()) // in responses to HEAD too
        // Permits browsers to cache each document for ten minutes, because the documents of the
        // console page have a total size of 1.5 MB.
        .header(HttpHeaders.CACHE_CONTROL, "max-age=600")
        .header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        .header("Referrer-Policy", "no-referrer");
  }

  private static String nameOf(String path) {
    return switch (path) {
      case "/" -> "page.html";
      case "/errors" -> "errors.html";
      default -> path.substring(path.lastIndexOf('/') + 1);
    };
  }

  /**
   * Returns the document with the given name. Throws RefusedException if there is no such document.
   * The router ignores a trailing slash in the path, but this method rejects such a path, because
   * relative links in the document would break.
   */
  private static Document document(String name) {
    String type = MEDIA_TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    if (type == null) {
      throw new RefusedException(ErrorNumber.NOT_FOUND);
    }
    byte[] bytes = resource(name);
    // A direct buffer is used, because Netty would copy a heap buffer for each response.
    ByteBuf content = Unpooled.directBuffer(bytes.length, bytes.length).writeBytes(bytes);
    return new Document(new MediaType(type), Unpooled.unreleasableBuffer(content.asReadOnly()));
  }

  private static byte[] resource(String name) {
    boolean isLibrary = name.startsWith("swagger-ui");
    String path = isLibrary ? "/" + new WebJarVersionLocator().fullPath("swagger-ui", name) : name;
    try (InputStream resource = DocumentsController.class.getResourceAsStream(path)) {
      if (resource == null) { // the request's path contains percent-encoded characters
        throw new RefusedException(ErrorNumber.NOT_FOUND);
      }
      return resource.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A document whose content is held in a buffer that is never released. */
  private record Document(MediaType type, ByteBuf content) {}
}
