package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.io.IOException;
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

/** The manifests for Kubernetes are complete, and each of their fields is one of its kind. */
class KustomizationTest {

  @ParameterizedTest
  @ValueSource(strings = {"kubernetes/", "kubernetes/monitoring/"})
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
    Map<String, Object> deployment = Manifests.yaml("kubernetes/deployment.yaml");
    deployment.put("spec", Map.of("replica", 2));

    Exception refusal =
        assertThrows(IllegalArgumentException.class, () -> Manifests.parse(deployment));
    assertTrue(refusal.toString().contains("\"replica\""), refusal::toString);
  }
}
