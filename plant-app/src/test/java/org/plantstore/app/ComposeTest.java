package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The file for Compose matches the service. The linters check its schema. */
class ComposeTest {

  private static final String FILE = "compose.yaml";

  private static final Pattern SECRET = Pattern.compile("\\$\\{([A-Z_]+)(?::\\?[^}]*)?}");

  private static final JsonNode SERVICES = Manifests.read(FILE).path("services");

  @Test
  void variables_exist_and_secrets_are_those_that_the_page_makes() {
    for (String name : List.of("migrate", "plant-store")) {
      Manifests.assertDocumented(
          SERVICES.path(name).path("environment").properties().stream()
              .map(Map.Entry::getKey)
              .toList());
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
    String earlier = "{'database':{'condition':'service_healthy'}}";
    for (String name : List.of("accounts", "migrate", "grants", "plant-store")) {
      Manifests.assertJson(earlier, SERVICES.path(name).path("depends_on"));
      earlier = "{'" + name + "':{'condition':'service_completed_successfully'}}";
    }
    assertEquals("migrate", SERVICES.at("/migrate/command").textValue());
    for (String name : List.of("accounts", "grants")) {
      String volume = SERVICES.path(name).at("/volumes/0").textValue();
      Path script = Manifests.FOLDER.resolve(volume.replaceFirst(":.*", ""));
      assertTrue(Files.exists(script), script::toString);
    }
  }

  @Test
  void service_has_no_rights_and_the_time_to_drain_and_its_ports_are_for_this_machine() {
    for (String name : List.of("migrate", "plant-store")) {
      JsonNode service = SERVICES.path(name);
      assertTrue(service.path("read_only").booleanValue());
      Manifests.assertJson("['ALL']", service.path("cap_drop"));
      Manifests.assertJson("['no-new-privileges:true']", service.path("security_opt"));
      assertEquals("384m", service.path("mem_limit").textValue());
      assertEquals(2, service.path("cpus").intValue());
    }
    String grace = SERVICES.at("/plant-store/stop_grace_period").textValue();
    assertTrue(Integer.parseInt(grace.replace("s", "")) >= Manifests.shutdownSeconds(), grace);
    Manifests.assertJson(
        String.format(
            Locale.ROOT,
            "['127.0.0.1:%1$d:%1$d','127.0.0.1:%2$d:%2$d']",
            Manifests.setting("port"),
            Manifests.setting("management.port")),
        SERVICES.at("/plant-store/ports"));
  }
}
