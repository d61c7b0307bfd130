package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The file for Compose matches the service. The linters check its schema. */
class ComposeTest {

  private static final String FILE = "compose.yaml";

  /** A reference to a secret. */
  private static final Pattern SECRET = Pattern.compile("\\$\\{([A-Z_]+)(?::\\?[^}]*)?}");

  private static final Map<String, Object> SERVICES = map(Manifests.yaml(FILE), "services");

  @Test
  void variables_exist_and_secrets_are_those_that_the_page_makes() {
    for (String name : List.of("migrate", "plant-store")) {
      Manifests.assertDocumented(map(service(name), "environment").keySet());
    }
    Set<String> secrets =
        SECRET
            .matcher(Manifests.text(Manifests.FOLDER.resolve(FILE)))
            .results()
            .map(secret -> secret.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    String made = "for name in " + String.join(" ", secrets) + "; do";
    assertTrue(Manifests.text(Path.of("docs", "deployment.md")).contains(made), made);
  }

  @Test
  void accounts_tables_and_rights_are_there_before_the_service() {
    String earlier = "database";
    String condition = "service_healthy";
    for (String name : List.of("accounts", "migrate", "grants", "plant-store")) {
      assertEquals(
          Map.of(earlier, Map.of("condition", condition)), service(name).get("depends_on"));
      earlier = name;
      condition = "service_completed_successfully";
    }
    assertEquals("migrate", service("migrate").get("command"));
    for (String name : List.of("accounts", "grants")) {
      String volume = String.valueOf(list(service(name), "volumes").get(0));
      Path script = Manifests.FOLDER.resolve(volume.replaceFirst(":.*", ""));
      assertTrue(Files.exists(script), script::toString);
    }
  }

  @Test
  void service_has_no_rights_and_the_time_to_drain_and_its_ports_are_for_this_machine() {
    for (String name : List.of("migrate", "plant-store")) {
      assertEquals(true, service(name).get("read_only"));
      assertEquals(List.of("ALL"), service(name).get("cap_drop"));
      assertEquals(List.of("no-new-privileges:true"), service(name).get("security_opt"));
      assertEquals("384m", service(name).get("mem_limit"));
      assertEquals(2, service(name).get("cpus"));
    }
    String grace = String.valueOf(service("plant-store").get("stop_grace_period"));
    assertTrue(Integer.parseInt(grace.replace("s", "")) >= Manifests.shutdownSeconds(), grace);
    int port = Manifests.setting("port");
    int managementPort = Manifests.setting("management.port");
    assertEquals(
        List.of(
            "127.0.0.1:%1$d:%1$d".formatted(port), "127.0.0.1:%1$d:%1$d".formatted(managementPort)),
        service("plant-store").get("ports"));
  }

  private static Map<String, Object> service(String name) {
    return map(SERVICES, name);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Map<String, Object> parent, String name) {
    return (Map<String, Object>) Objects.requireNonNull(parent.get(name), name);
  }

  private static List<?> list(Map<String, Object> parent, String name) {
    return (List<?>) Objects.requireNonNull(parent.get(name), name);
  }
}
