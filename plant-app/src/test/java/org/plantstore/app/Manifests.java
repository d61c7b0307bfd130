package org.plantstore.app;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.yaml.snakeyaml.Yaml;

/** The deployment files, and the numbers and names that they must agree with. */
final class Manifests {

  static final Path FOLDER = Path.of("src", "operations");

  private static final Path OPERATIONS = Path.of("docs", "operations.md");

  /** A row of the tables of variables: their names, and their default. */
  private static final Pattern VARIABLES =
      Pattern.compile("(?m)^\\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \\| ([^|]*) \\|");

  private static final Pattern SHUTDOWN =
      Pattern.compile("Allow `DRAIN_SECONDS` and (\\d+) s before");

  /** The models keep fields that they do not know; this mapper refuses them. */
  private static final ObjectMapper MAPPER =
      new ObjectMapper()
          .setAnnotationIntrospector(
              new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                  return false;
                }
              });

  private Manifests() {}

  static ObjectNode read(String file) {
    return MAPPER.valueToTree(new Yaml().load(text(FOLDER.resolve(file))));
  }

  /** Returns the Kubernetes object; fails if its kind does not have one of the fields. */
  static KubernetesResource parse(JsonNode manifest) {
    return MAPPER.convertValue(manifest, KubernetesResource.class);
  }

  /** Compares JSON without white space; apostrophes stand for quotation marks. */
  static void assertJson(String expected, JsonNode actual) {
    assertEquals(expected, actual.toString().replace('"', '\''));
  }

  /** Returns the default of each documented variable, as its page writes it. */
  static Map<String, String> documentedDefaults() {
    return VARIABLES
        .matcher(text(Path.of("docs", "configuration.md")))
        .results()
        .flatMap(row ->
            Arrays.stream(row.group(1).replace("`", "").split(", ", -1))
                .map(name -> Map.entry(name, row.group(2))))
        .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  static int setting(String name) {
    return read("../main/resources/application.yml").required(name).intValue();
  }

  static int shutdownSeconds() {
    return setting("drain.seconds") + Integer.parseInt(first(SHUTDOWN, text(OPERATIONS)));
  }

  static String runbook() {
    return text(OPERATIONS).replaceFirst("(?s)^.*\n## Runbook\n", "");
  }

  /** Returns the first fenced block of a page in this language, in any case. */
  static String block(Path page, Object language) {
    return first(Pattern.compile("(?ims)^```" + language + "\n(.*?)^```$"), text(page));
  }

  static String first(Pattern pattern, String text) {
    return groups(pattern, text)
        .findFirst()
        .orElseThrow(() -> new AssertionError("there is no " + pattern));
  }

  /** Returns the last group of each match. */
  static Stream<String> groups(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(match.groupCount()));
  }

  static String text(Path file) {
    return assertDoesNotThrow(() -> Files.readString(file));
  }
}
