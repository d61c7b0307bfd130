package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.TopologySpreadConstraint;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PodMetricsEndpoint;
import io.fabric8.openshift.api.model.monitoring.v1.PodMonitor;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The manifests for Kubernetes, parsed by models of its API, match the service. */
class KubernetesTest {

  private static final String BASE = "kubernetes/";
  private static final String MONITORING = "kubernetes/monitoring/";

  private static final PodTemplateSpec PODS =
      Manifests.read(BASE + "deployment.yaml", Deployment.class).getSpec().getTemplate();

  private static final PodTemplateSpec MIGRATION =
      Manifests.read(BASE + "migration.yaml", Job.class).getSpec().getTemplate();

  @Test
  void probes_and_scrapes_are_answered() {
    Container container = container(PODS);
    for (Probe probe :
        List.of(
            container.getStartupProbe(),
            container.getLivenessProbe(),
            container.getReadinessProbe())) {
      assertEquals("management", probe.getHttpGet().getPort().getStrVal());
      assertServed(probe.getHttpGet().getPath());
    }
    PodMetricsEndpoint endpoint =
        Manifests.read(MONITORING + "pod-monitor.yaml", PodMonitor.class)
            .getSpec()
            .getPodMetricsEndpoints()
            .get(0);
    assertEquals("management", endpoint.getPort());
    assertServed(endpoint.getPath());
  }

  @Test
  void ports_are_those_of_the_service_and_the_management_port_is_for_prometheus_alone() {
    assertEquals(
        Map.of(
            "api", Manifests.setting("port"), "management", Manifests.setting("management.port")),
        container(PODS).getPorts().stream()
            .collect(Collectors.toMap(ContainerPort::getName, ContainerPort::getContainerPort)));
    assertEquals(
        List.of(new IntOrString("api")),
        Manifests.read(BASE + "service.yaml", Service.class).getSpec().getPorts().stream()
            .map(port -> port.getTargetPort())
            .toList());
    List<NetworkPolicyIngressRule> rules =
        Manifests.read(BASE + "network-policy.yaml", NetworkPolicy.class).getSpec().getIngress();
    assertEquals(
        List.of(new IntOrString("api"), new IntOrString("management")),
        rules.stream().map(rule -> rule.getPorts().get(0).getPort()).toList());
    assertEquals(
        List.of(Map.of("app.kubernetes.io/name", "prometheus")),
        rules.get(1).getFrom().stream()
            .map(peer -> peer.getPodSelector().getMatchLabels())
            .toList());
  }

  @Test
  void times_fit_those_of_the_service() {
    Container container = container(PODS);
    int startTimeout = Manifests.documentedDefault("DATABASE_START_TIMEOUT_SECONDS");

    assertTrue(seconds(container.getStartupProbe()) > startTimeout);
    assertTrue(seconds(container.getReadinessProbe()) < Manifests.setting("drain.seconds"));
    assertTrue(PODS.getSpec().getTerminationGracePeriodSeconds() >= Manifests.shutdownSeconds());
  }

  @Test
  void variables_exist_and_none_has_a_secret_in_plain_text() {
    for (PodTemplateSpec pods : List.of(PODS, MIGRATION)) {
      Container container = container(pods);
      List<String> names = container.getEnv().stream().map(EnvVar::getName).toList();
      Manifests.assertDocumented(names);
      assertEquals(
          List.of(), names.stream().filter(name -> name.matches(".*(PASSWORD|SECRET)")).toList());
    }
    assertEquals("plant-store", container(PODS).getEnvFrom().get(1).getSecretRef().getName());
    assertEquals(
        "plant-store-migrate", container(MIGRATION).getEnvFrom().get(1).getSecretRef().getName());
    assertEquals(List.of("migrate"), container(MIGRATION).getArgs());
  }

  @Test
  void containers_have_no_rights_and_as_much_memory_as_they_ask_for() {
    for (PodTemplateSpec pods : List.of(PODS, MIGRATION)) {
      PodSpec pod = pods.getSpec();
      assertFalse(pod.getAutomountServiceAccountToken());
      assertTrue(pod.getSecurityContext().getRunAsNonRoot());
      assertEquals(10001, pod.getSecurityContext().getRunAsUser());
      assertEquals("RuntimeDefault", pod.getSecurityContext().getSeccompProfile().getType());
      SecurityContext container = container(pods).getSecurityContext();
      assertFalse(container.getAllowPrivilegeEscalation());
      assertTrue(container.getReadOnlyRootFilesystem());
      assertEquals(List.of("ALL"), container.getCapabilities().getDrop());
      assertEquals(
          container(pods).getResources().getRequests().get("memory"),
          container(pods).getResources().getLimits().get("memory"));
    }
  }

  @Test
  void selectors_select_the_pods_of_the_service_and_not_those_of_the_migration() {
    Map<String, String> labels = PODS.getMetadata().getLabels();
    PodDisruptionBudget budget =
        Manifests.read(BASE + "disruption-budget.yaml", PodDisruptionBudget.class);

    assertFalse(MIGRATION.getMetadata().getLabels().entrySet().containsAll(labels.entrySet()));
    assertEquals(
        labels, Manifests.read(BASE + "service.yaml", Service.class).getSpec().getSelector());
    Stream.concat(
            PODS.getSpec().getTopologySpreadConstraints().stream()
                .map(TopologySpreadConstraint::getLabelSelector),
            Stream.of(
                Manifests.read(BASE + "deployment.yaml", Deployment.class).getSpec().getSelector(),
                budget.getSpec().getSelector(),
                Manifests.read(BASE + "network-policy.yaml", NetworkPolicy.class)
                    .getSpec()
                    .getPodSelector(),
                Manifests.read(MONITORING + "pod-monitor.yaml", PodMonitor.class)
                    .getSpec()
                    .getSelector()))
        .map(LabelSelector::getMatchLabels)
        .forEach(selected -> assertEquals(labels, selected));
  }

  @ParameterizedTest
  @ValueSource(strings = {BASE, MONITORING})
  void kustomization_has_each_manifest_and_each_field_of_one_is_known(String folder)
      throws IOException {
    Set<String> manifests;
    try (Stream<Path> files = Files.list(Manifests.FOLDER.resolve(folder))) {
      manifests =
          files
              .filter(Files::isRegularFile)
              .map(file -> file.getFileName().toString())
              .filter(name -> !name.equals("kustomization.yaml"))
              .collect(Collectors.toSet());
    }
    Map<String, Object> kustomization = Manifests.yaml(folder + "kustomization.yaml");

    assertEquals(Set.of("apiVersion", "kind", "resources"), kustomization.keySet());
    assertEquals(
        manifests, Set.copyOf((List<?>) Objects.requireNonNull(kustomization.get("resources"))));
    for (String name : manifests) {
      HasMetadata manifest = Manifests.read(folder + name, HasMetadata.class);
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

  private static Container container(PodTemplateSpec pods) {
    return pods.getSpec().getContainers().get(0);
  }

  /** Returns how long a probe may fail before it has an effect. */
  private static int seconds(Probe probe) {
    return probe.getPeriodSeconds() * probe.getFailureThreshold();
  }

  private static void assertServed(String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(ServiceProcess.shared().managementAddress().resolve(path));
    assertEquals(200, ServiceProcess.send(request).statusCode(), path);
  }
}
