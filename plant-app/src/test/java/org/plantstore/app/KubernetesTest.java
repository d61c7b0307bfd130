package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.io.File;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The manifests for Kubernetes, checked by models of its API, match the service. */
class KubernetesTest {

  private static final String BASE = "kubernetes/";
  private static final String MONITORING = "kubernetes/monitoring/";

  private static final JsonNode DEPLOYMENT = Manifests.read(BASE + "deployment.yaml");
  private static final JsonNode PODS = DEPLOYMENT.at("/spec/template");
  private static final JsonNode CONTAINER = PODS.at("/spec/containers/0");
  private static final JsonNode MIGRATION =
      Manifests.read(BASE + "migration.yaml").at("/spec/template");
  private static final JsonNode SERVICE = Manifests.read(BASE + "service.yaml");
  private static final JsonNode POLICY = Manifests.read(BASE + "network-policy.yaml");
  private static final JsonNode MONITOR = Manifests.read(MONITORING + "pod-monitor.yaml");

  @Test
  void probes_and_scrapes_are_answered() {
    for (JsonNode target :
        List.of(
            CONTAINER.at("/startupProbe/httpGet"),
            CONTAINER.at("/livenessProbe/httpGet"),
            CONTAINER.at("/readinessProbe/httpGet"),
            MONITOR.at("/spec/podMetricsEndpoints/0"))) {
      assertEquals("management", target.path("port").textValue());
      String path = target.path("path").textValue();
      HttpRequest.Builder request =
          HttpRequest.newBuilder(ServiceProcess.shared().managementAddress().resolve(path));
      assertEquals(200, ServiceProcess.send(request).statusCode(), path);
    }
  }

  @Test
  void ports_are_those_of_the_service_and_the_management_port_is_only_for_prometheus() {
    Manifests.assertJson(
        String.format(
            Locale.ROOT,
            "[{'name':'api','containerPort':%d},{'name':'management','containerPort':%d}]",
            Manifests.setting("port"),
            Manifests.setting("management.port")),
        CONTAINER.path("ports"));
    assertEquals(List.of("api"), SERVICE.findValuesAsText("targetPort"));
    assertEquals(List.of("api", "management"), POLICY.at("/spec/ingress").findValuesAsText("port"));
    assertEquals(
        "[{\"app.kubernetes.io/name\":\"prometheus\"}]",
        POLICY.at("/spec/ingress/1/from").findValues("matchLabels").toString());
  }

  @Test
  void times_fit_those_of_the_service() {
    int startTimeout = Manifests.documentedDefault("DATABASE_START_TIMEOUT_SECONDS");

    assertTrue(seconds("startupProbe") > startTimeout);
    assertTrue(seconds("readinessProbe") < Manifests.setting("drain.seconds"));
    int grace = PODS.at("/spec/terminationGracePeriodSeconds").intValue();
    assertTrue(grace >= Manifests.shutdownSeconds());
  }

  @Test
  void variables_exist_and_none_has_a_secret_in_plain_text() {
    for (JsonNode pods : List.of(PODS, MIGRATION)) {
      List<String> names = pods.at("/spec/containers/0/env").findValuesAsText("name");
      Manifests.assertDocumented(names);
      assertTrue(names.stream().noneMatch(name -> name.matches(".*(PASSWORD|SECRET)")));
    }
    Manifests.assertJson("{'name':'plant-store'}", CONTAINER.at("/envFrom/1/secretRef"));
    JsonNode migration = MIGRATION.at("/spec/containers/0");
    Manifests.assertJson("{'name':'plant-store-migrate'}", migration.at("/envFrom/1/secretRef"));
    Manifests.assertJson("['migrate']", migration.path("args"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /automountServiceAccountToken                          | false
          /securityContext/runAsNonRoot                          | true
          /securityContext/runAsUser                             | 10001
          /securityContext/seccompProfile/type                   | "RuntimeDefault"
          /containers/0/securityContext/allowPrivilegeEscalation | false
          /containers/0/securityContext/readOnlyRootFilesystem   | true
          /containers/0/securityContext/capabilities/drop        | ["ALL"]
          /containers/0/resources/requests/memory                | "384Mi"
          /containers/0/resources/limits/memory                  | "384Mi"
          """)
  void containers_have_no_rights_and_as_much_memory_as_they_ask_for(String field, String value) {
    for (JsonNode pods : List.of(PODS, MIGRATION)) {
      assertEquals(value, pods.path("spec").at(field).toString());
    }
  }

  @Test
  void selectors_select_the_pods_of_the_service_and_not_those_of_the_migration() {
    JsonNode labels = PODS.at("/metadata/labels");
    JsonNode budget = Manifests.read(BASE + "disruption-budget.yaml");

    assertEquals(3, DEPLOYMENT.findValues("matchLabels").size());
    Stream.concat(
            DEPLOYMENT.findValues("matchLabels").stream(),
            Stream.of(
                SERVICE.at("/spec/selector"),
                budget.at("/spec/selector/matchLabels"),
                POLICY.at("/spec/podSelector/matchLabels"),
                MONITOR.at("/spec/selector/matchLabels")))
        .forEach(selected -> assertEquals(labels, selected));
    String name = "app.kubernetes.io/name";
    assertNotEquals(labels.get(name), MIGRATION.at("/metadata/labels").get(name));
  }

  @ParameterizedTest
  @ValueSource(strings = {BASE, MONITORING})
  void kustomization_has_each_manifest_and_each_field_of_one_is_known(String folder) {
    File files = Manifests.FOLDER.resolve(folder).toFile();
    String[] manifests =
        Objects.requireNonNull(
            files.list(
                (parent, name) -> name.endsWith(".yaml") && !name.equals("kustomization.yaml")));
    Map<String, Object> kustomization = Manifests.yaml(folder + "kustomization.yaml");

    assertEquals(Set.of("apiVersion", "kind", "resources"), kustomization.keySet());
    assertEquals(
        Set.of(manifests),
        Set.copyOf((List<?>) Objects.requireNonNull(kustomization.get("resources"))));
    for (String name : manifests) {
      Object manifest = Manifests.parse(Manifests.yaml(folder + name));
      assertFalse(manifest instanceof GenericKubernetesResource, name + " is of an unknown kind");
    }
  }

  @Test
  void unknown_field_is_noticed() {
    Map<String, Object> deployment = Manifests.yaml(BASE + "deployment.yaml");
    deployment.put("spec", Map.of("replica", 2));

    Exception refusal =
        assertThrows(IllegalArgumentException.class, () -> Manifests.parse(deployment));
    assertTrue(refusal.toString().contains("\"replica\""), refusal::toString);
  }

  /** Returns how long a probe may fail before it has an effect. */
  private static int seconds(String probe) {
    JsonNode settings = CONTAINER.path(probe);
    return settings.path("periodSeconds").intValue() * settings.path("failureThreshold").intValue();
  }
}
