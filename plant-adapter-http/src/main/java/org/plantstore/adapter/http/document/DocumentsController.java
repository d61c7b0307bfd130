package org.plantstore.adapter.http.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import io.micronaut.json.JsonMapper;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.security.annotation.Secured;
import io.micronaut.security.rules.SecurityRule;
import io.netty.buffer.ByteBuf;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.webjars.WebJarVersionLocator;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Serves what describes the interface, to everyone: the OpenAPI document, the page that shows it
 * and sends requests, and the error catalogue. References between them are relative, so that they
 * hold behind any base address. Made when they are first asked for.
 */
@Controller
@Secured(SecurityRule.IS_ANONYMOUS)
final class DocumentsController {

  private static final MediaType CSS = new MediaType("text/css; charset=utf-8");
  private static final MediaType HTML = new MediaType("text/html; charset=utf-8");
  private static final MediaType JAVASCRIPT = new MediaType("text/javascript; charset=utf-8");
  private static final MediaType PLAIN = new MediaType("text/plain; charset=utf-8");
  private static final MediaType YAML = new MediaType("application/yaml"); // RFC 9512

  private static final String CONSOLE = "swagger-ui";

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
  @Produces(MediaType.ALL)
  @ExecuteOn(TaskExecutors.BLOCKING)
  HttpResponse<ByteBuf> get(HttpRequest<?> request) {
    String path = request.getPath();
    if (path.endsWith("/") && !path.equals("/")) {
      // The framework overlooks this slash, and relative references would not.
      return HttpResponse.permanentRedirect(
          URI.create(
              ".." + path.substring(path.lastIndexOf('/', path.length() - 2), path.length() - 1)));
    }
    return documents.computeIfAbsent(path, this::document).answer(request);
  }

  private Document document(String path) {
    try {
      return switch (path) {
        case "/" -> new Document(HTML, resource("page.html"));
        case "/errors" -> new Document(HTML, ErrorCatalogue.page().getBytes(UTF_8));
        case "/openapi.yaml" -> new Document(YAML, resource("openapi.yaml"));
        case "/openapi.json" ->
            new Document(MediaType.APPLICATION_JSON_TYPE, toJson(resource("openapi.yaml")));
        case "/page/page.css" -> new Document(CSS, resource("page.css"));
        case "/page/page.js" -> new Document(JAVASCRIPT, resource("page.js"));
        case "/page/swagger-ui.css" -> new Document(CSS, console("swagger-ui.css"));
        case "/page/swagger-ui-bundle.js" ->
            new Document(JAVASCRIPT, console("swagger-ui-bundle.js"));
        case "/page/swagger-ui-bundle.js.LICENSE.txt" ->
            new Document(PLAIN, console("swagger-ui-bundle.js.LICENSE.txt"));
        default -> throw new RefusedException(ErrorNumber.NOT_FOUND);
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private byte[] toJson(byte[] yaml) throws IOException {
    Object document =
        new Yaml(new SafeConstructor(new LoaderOptions())).load(new String(yaml, UTF_8));
    return json.writeValueAsBytes(document);
  }

  private static byte[] resource(String name) throws IOException {
    return read(name, DocumentsController.class.getResourceAsStream(name));
  }

  private static byte[] console(String name) throws IOException {
    String path = new WebJarVersionLocator().fullPath(CONSOLE, name);
    return read(name, DocumentsController.class.getResourceAsStream("/" + path));
  }

  private static byte[] read(String name, @Nullable InputStream resource) throws IOException {
    if (resource == null) {
      throw new FileNotFoundException(name + " is not on the class path");
    }
    try (resource) {
      return resource.readAllBytes();
    }
  }
}
