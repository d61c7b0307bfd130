package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.yaml.snakeyaml.Yaml;

/** The deployment files, and the numbers and names that they must agree with. */
final class Manifests {

  static final Path FOLDER = Path.of("src", "operations");

  private static final Path SETTINGS = Path.of("src", "main", "resources", "application.yml");
  private static final Path CONFIGURATION = Path.of("docs", "configuration.md");
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

  static Map<String, Object> yaml(String file) {
    return new Yaml().load(text(FOLDER.resolve(file)));
  }

  static JsonNode read(String file) {
    return MAPPER.valueToTree(yaml(file));
  }

  /** Returns the Kubernetes object; fails if its kind does not have one of the fields. */
  static KubernetesResource parse(Map<String, Object> manifest) {
    return MAPPER.convertValue(manifest, KubernetesResource.class);
  }

  /** Compares JSON without white space; apostrophes stand for quotation marks. */
  static void assertJson(String expected, JsonNode actual) {
    assertEquals(expected, actual.toString().replace('"', '\''));
  }

  /** Fails unless the page on configuration lists each of the variables. */
  static void assertDocumented(Collection<String> variables) {
    Set<String> unknown = new TreeSet<>(variables);
    unknown.removeAll(defaults().keySet());
    assertEquals(Set.of(), unknown);
  }

  static int documentedDefault(String variable) {
    return Integer.parseInt(Objects.requireNonNull(defaults().get(variable), variable));
  }

  private static Map<String, String> defaults() {
    return VARIABLES
        .matcher(text(CONFIGURATION))
        .results()
        .flatMap(row ->
            Arrays.stream(row.group(1).replace("`", "").split(", ", -1))
                .map(name -> Map.entry(name, row.group(2))))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  static int setting(String name) {
    Map<String, Object> settings = new Yaml().load(text(SETTINGS));
    return (int) Objects.requireNonNull(settings.get(name), name);
  }

  static int shutdownSeconds() {
    String seconds =
        SHUTDOWN.matcher(text(OPERATIONS)).results().findFirst().orElseThrow().group(1);
    return setting("drain.seconds") + Integer.parseInt(seconds);
  }

  static String runbook() {
    return text(OPERATIONS).replaceFirst("(?s)^.*\n## Runbook\n", "");
  }

  /** Returns the first fenced block of a page in this language, in any case. */
  static String block(Path page, Object language) {
    return Pattern.compile("(?ims)^```" + language + "\n(.*?)^```$")
        .matcher(text(page))
        .results()
        .findFirst()
        .orElseThrow(() -> new AssertionError(page + " has no block of " + language))
        .group(1);
  }

  static String text(Path file) {
    return assertDoesNotThrow(() -> Files.readString(file));
  }
}
