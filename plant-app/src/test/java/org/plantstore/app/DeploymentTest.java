package org.plantstore.app;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The files for Kubernetes, Compose and systemd match the service. Models of Kubernetes' API check
 * its manifests, systemd its unit, and the linters the schema of Compose.
 */
class DeploymentTest {

  private static final String BASE = "kubernetes/";
  private static final String MONITORING = BASE + "monitoring/";

  private static final JsonNode DEPLOYMENT = Manifests.read(BASE + "deployment.yaml");
  private static final JsonNode PODS = DEPLOYMENT.at("/spec/template");
  private static final JsonNode CONTAINER = PODS.at("/spec/containers/0");
  private static final JsonNode MIGRATION =
      Manifests.read(BASE + "migration.yaml").at("/spec/template");
  private static final JsonNode SERVICE = Manifests.read(BASE + "service.yaml");
  private static final JsonNode POLICY = Manifests.read(BASE + "network-policy.yaml");
  private static final JsonNode MONITOR = Manifests.read(MONITORING + "pod-monitor.yaml");
  private static final JsonNode COMPOSE = Manifests.read("compose.yaml").path("services");
  private static final JsonNode SETTINGS = Manifests.read("../main/resources/application.yml");

  private static final String UNIT_NAME = "plant-store.service";
  private static final String UNIT = Manifests.text(Manifests.FOLDER.resolve(UNIT_NAME));

  /** The models keep fields that they do not know; this mapper refuses them. */
  private static final ObjectMapper MODELS =
      new ObjectMapper()
          .setAnnotationIntrospector(
              new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                  return false;
                }
              });

  @ParameterizedTest
  @ValueSource(strings = {BASE, MONITORING})
  void kustomization_has_each_manifest_and_each_field_of_one_is_known(String folder) {
    Set<String> manifests =
        new TreeSet<>(List.of(requireNonNull(Manifests.FOLDER.resolve(folder).toFile().list())));
    manifests.removeIf(name -> !name.endsWith(".yaml") || name.equals("kustomization.yaml"));
    JsonNode kustomization = Manifests.read(folder + "kustomization.yaml");
    Set<String> resources = new TreeSet<>();
    kustomization.path("resources").forEach(name -> resources.add(name.textValue()));

    assertEquals(3, kustomization.size(), "fields: apiVersion, kind and resources");
    assertEquals(manifests, resources);
    for (String name : manifests) {
      ObjectNode manifest = Manifests.read(folder + name);
      assertFalse(parse(manifest) instanceof GenericKubernetesResource, "the kind of " + name);
      manifest.put("specification", "any");
      assertThrows(IllegalArgumentException.class, () -> parse(manifest), name);
    }
  }

  private static Object parse(ObjectNode manifest) {
    return MODELS.convertValue(manifest, KubernetesResource.class);
  }

  @Test
  void variables_exist_and_none_has_a_secret_in_plain_text() {
    Set<String> names = new HashSet<>();
    for (JsonNode pods : List.of(PODS, MIGRATION)) {
      names.addAll(pods.at("/spec/containers/0/env").findValuesAsText("name"));
    }
    for (String variable : unit("Environment").split(" ", -1)) {
      names.add(variable.replaceFirst("=.*", ""));
    }
    assertTrue(names.stream().noneMatch(name -> name.matches(".*(PASSWORD|SECRET)")));
    // Those of Compose come from its own variables, which the page makes.
    for (String container : List.of("migrate", "plant-store")) {
      COMPOSE.path(container).path("environment").fieldNames().forEachRemaining(names::add);
    }
    names.removeAll(Manifests.documentedDefaults().keySet());
    assertEquals(Set.of(), names);
  }

  @Test
  void times_fit_those_of_the_service() {
    String start =
        Manifests.documentedDefaults().getOrDefault("DATABASE_START_TIMEOUT_SECONDS", "");
    int drain = SETTINGS.required("drain.seconds").intValue();
    String page = Manifests.text(Path.of("docs", "operations.md"));
    String others =
        Manifests.first(Pattern.compile("Allow `DRAIN_SECONDS` and (\\d+) s before"), page);

    assertTrue(seconds("startupProbe") > Integer.parseInt(start));
    assertTrue(seconds("readinessProbe") < drain);
    for (String grace :
        List.of(
            PODS.at("/spec/terminationGracePeriodSeconds").asText(),
            COMPOSE.at("/plant-store/stop_grace_period").textValue().replace("s", ""),
            unit("TimeoutStopSec"))) {
      assertTrue(Integer.parseInt(grace) >= drain + Integer.parseInt(others), grace);
    }
  }

  /** Returns how long a probe may fail before it has an effect. */
  private static int seconds(String probe) {
    JsonNode settings = CONTAINER.path(probe);
    return settings.path("periodSeconds").intValue() * settings.path("failureThreshold").intValue();
  }

  @Test
  void ports_are_those_of_the_service_and_probes_and_scrapes_are_answered() {
    assertEquals(
        List.of(SETTINGS.required("port").asText(), SETTINGS.required("management.port").asText()),
        CONTAINER.path("ports").findValuesAsText("containerPort"));
    assertEquals(List.of("api", "management"), CONTAINER.path("ports").findValuesAsText("name"));
    assertEquals(List.of("api"), SERVICE.findValuesAsText("targetPort"));
    assertEquals(List.of("api", "management"), POLICY.at("/spec/ingress").findValuesAsText("port"));
    for (JsonNode target :
        List.of(
            CONTAINER.at("/startupProbe/httpGet"),
            CONTAINER.at("/livenessProbe/httpGet"),
            CONTAINER.at("/readinessProbe/httpGet"),
            MONITOR.at("/spec/podMetricsEndpoints/0"))) {
      assertEquals("management", target.path("port").textValue());
      String path = target.path("path").textValue();
      int status = ServiceProcess.send(ServiceProcess.shared().atManagement(path)).statusCode();
      assertEquals(200, status, path);
    }
  }

  @Test
  void selectors_select_the_pods_of_the_service_and_not_those_of_the_migration() {
    JsonNode labels = PODS.at("/metadata/labels");
    JsonNode budget = Manifests.read(BASE + "disruption-budget.yaml");

    List<JsonNode> selectors =
        new ArrayList<>(
            List.of(SERVICE.at("/spec/selector"), POLICY.at("/spec/podSelector/matchLabels")));
    for (JsonNode manifest : List.of(DEPLOYMENT, budget, MONITOR)) {
      manifest.findValues("matchLabels", selectors);
    }
    assertEquals(Collections.nCopies(7, labels), selectors);
    String name = "app.kubernetes.io/name";
    assertNotEquals(labels.get(name), MIGRATION.at("/metadata/labels").get(name));
  }

  @Test
  void unit_passes_the_checks_of_systemd_with_an_exposure_of_at_most_2(@TempDir Path folder)
      throws IOException {
    assertEquals(ServiceProcess.TERMINATED, Integer.parseInt(unit("SuccessExitStatus")));
    String analyze = Program.requireInstalled("systemd-analyze");
    // The path replaces that of the machine, whose other units would be reported too.
    Map<String, String> environment = Map.of("SYSTEMD_UNIT_PATH", folder.toString());
    Files.writeString(folder.resolve("sysinit.target"), "[Unit]\n"); // one that is empty is masked
    Path scripts = Path.of("src", "main", "scripts").toAbsolutePath();
    Files.writeString(
        folder.resolve(UNIT_NAME), UNIT.replace("=/opt/plant-store/", "=" + scripts + "/"));

    assertEquals(
        new Program.Ended(0, ""),
        Program.run(folder, environment, analyze, "verify", "--man=no", "./" + UNIT_NAME));
    String[] security = {
      analyze, "security", "--offline=true", "--threshold=20", "--no-pager", "./" + UNIT_NAME
    };
    Program.run(folder, environment, security).requireSuccess();
  }

  private static String unit(String setting) {
    return Manifests.first(Pattern.compile("(?m)^" + setting + "=(.*)$"), UNIT);
  }
}
