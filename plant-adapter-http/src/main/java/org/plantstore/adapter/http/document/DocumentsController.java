package org.plantstore.adapter.http.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

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
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.webjars.WebJarVersionLocator;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Serves what describes the interface, to everyone: the OpenAPI document, the page that shows it
 * and sends requests, and the page of errors. References between them are relative, so that they
 * hold behind any base address. Each document is made when it is first asked for.
 */
@Controller
@Secured(SecurityRule.IS_ANONYMOUS)
final class DocumentsController {

  private static final MediaType CSS = new MediaType("text/css; charset=utf-8");
  private static final MediaType HTML = new MediaType("text/html; charset=utf-8");
  private static final MediaType JAVASCRIPT = new MediaType("text/javascript; charset=utf-8");
  private static final MediaType PLAIN = new MediaType("text/plain; charset=utf-8");
  private static final MediaType YAML = new MediaType("application/yaml"); // RFC 9512

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
    String name = path.substring(path.lastIndexOf('/', path.length() - 2) + 1);
    return documents.computeIfAbsent(name, this::document).answer(request);
  }

  private Document document(String name) {
    return switch (name) {
      case "/" -> new Document(HTML, resource("page.html"));
      case "errors" -> new Document(HTML, resource("errors.html"));
      case "openapi.yaml" -> new Document(YAML, resource(name));
      case "openapi.json" ->
          new Document(MediaType.APPLICATION_JSON_TYPE, toJson(resource("openapi.yaml")));
      case "page.css" -> new Document(CSS, resource(name));
      case "page.js" -> new Document(JAVASCRIPT, resource(name));
      case "swagger-ui.css" -> new Document(CSS, swaggerUi(name));
      case "swagger-ui-bundle.js" -> new Document(JAVASCRIPT, swaggerUi(name));
      case "swagger-ui-bundle.js.LICENSE.txt" -> new Document(PLAIN, swaggerUi(name));
      // With a slash at the end, which the router overlooks; relative references would break.
      default -> throw new RefusedException(ErrorNumber.NOT_FOUND);
    };
  }

  private byte[] toJson(byte[] yaml) {
    try {
      return json.writeValueAsBytes(
          new Yaml(new SafeConstructor(new LoaderOptions())).load(new String(yaml, UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] swaggerUi(String name) {
    return resource("/" + new WebJarVersionLocator().fullPath("swagger-ui", name));
  }

  private static byte[] resource(String name) {
    try (InputStream resource = DocumentsController.class.getResourceAsStream(name)) {
      return requireNonNull(resource, name + " is not on the class path").readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
