package org.plantstore.app;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.Predefined;
import java.net.URL;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The hexagon, read off the bytecode of all modules and compared for equality: an edge too many
 * fails as well as one that has gone, and so does a cycle. Each kind of rule is also shown to fail,
 * on a class that breaks it.
 */
class ArchitectureTest {

  private static final Map<String, Set<String>> MODULE_GRAPH =
      Map.of(
          "plant-domain", Set.of(),
          "plant-application", Set.of("plant-domain"),
          "plant-adapter-http", Set.of("plant-domain"),
          "plant-adapter-persistence", Set.of("plant-domain"),
          // The domain for the port by which it looks for its store.
          "plant-app", Set.of("plant-application", "plant-domain"));

  private static final Map<String, Set<String>> ROOM_GRAPH =
      Map.ofEntries(
          Map.entry(
              "adapter.http", rooms("http.connection", "http.error", "http.observe", "http.token")),
          Map.entry("adapter.http.error", rooms()),
          Map.entry("adapter.http.token", rooms("http.error", "http.observe")),
          Map.entry("adapter.http.document", rooms("http.error")),
          Map.entry("adapter.http.observe", rooms("http.error")),
          Map.entry("adapter.http.connection", rooms("http.error", "http.observe")),
          Map.entry(
              "adapter.persistence",
              rooms("persistence.batch", "persistence.database", "persistence.start")),
          Map.entry("adapter.persistence.batch", rooms()),
          Map.entry("adapter.persistence.database", rooms()),
          Map.entry("adapter.persistence.start", rooms("persistence.database")));

  private static final Map<String, Set<String>> ROOMS_BY_TECHNOLOGY =
      Map.ofEntries(
          Map.entry(
              "org.plantstore.domain",
              Set.of(
                  "app",
                  "application",
                  "adapter.http",
                  "adapter.persistence",
                  "adapter.persistence.batch")),
          Map.entry("com.fasterxml.jackson", rooms("http")),
          Map.entry("com.github.benmanes.caffeine", rooms("http.token")),
          Map.entry("com.nimbusds", rooms("http.token")),
          Map.entry("io.micronaut.security", rooms("http.token", "http.document")),
          Map.entry("io.netty", rooms("http.connection", "http.document", "http.observe")),
          Map.entry("org.webjars", rooms("http.document")),
          Map.entry("org.yaml", rooms("http.document")),
          Map.entry("com.zaxxer.hikari", rooms("persistence.database")),
          Map.entry("io.micronaut.data", rooms("persistence")),
          Map.entry("org.flywaydb", rooms("persistence.start")),
          Map.entry("java.sql", rooms("persistence", "persistence.database", "persistence.start")),
          Map.entry(
              "org.postgresql", rooms("persistence", "persistence.database", "persistence.start")));

  private static Set<String> rooms(String... names) {
    return Arrays.stream(names).map("adapter."::concat).collect(toSet());
  }

  private static final Set<String> DOMAIN_NEEDS =
      Set.of("java.io", "java.lang", "java.util", "java.util.stream", "org.jspecify.annotations");

  private static final Set<String> APPLICATION_NEEDS =
      Set.of("jakarta.inject", "java.lang", "org.jspecify.annotations");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("org.plantstore");

  private static final JavaClasses DOMAIN_THAT_KNOWS_TOO_MUCH =
      new ClassFileImporter().importPackages("org.plantstore.domain.counterexample");

  private final Architecture architecture = new Architecture(CLASSES);
  private final Architecture broken = new Architecture(DOMAIN_THAT_KNOWS_TOO_MUCH);

  @Test
  void every_module_needs_exactly_the_modules_that_the_hexagon_gives_it() {
    assertEquals(MODULE_GRAPH, architecture.moduleGraph());
  }

  @Test
  void every_room_of_an_adapter_needs_exactly_the_rooms_that_are_named_here() {
    assertEquals(ROOM_GRAPH, architecture.roomGraph());
  }

  @Test
  void every_class_is_shipped_by_the_module_that_its_package_names() {
    assertEquals(Set.of(), architecture.misplaced());
  }

  @Test
  void every_technology_is_in_its_rooms_and_nowhere_else() {
    assertEquals(ROOMS_BY_TECHNOLOGY, architecture.roomsByTechnology(ROOMS_BY_TECHNOLOGY.keySet()));
  }

  @Test
  void migrations_are_where_the_store_is() {
    URL migration = getClass().getResource("/org/plantstore/adapter/persistence/V1__plant.sql");
    assertNotNull(migration, "the first migration");
    assertTrue(migration.toString().contains("/plant-adapter-persistence"), migration.toString());
  }

  @Test
  void domain_needs_the_jdk_alone() {
    assertEquals(DOMAIN_NEEDS, architecture.externalPackages("plant-domain"));
  }

  @Test
  void application_needs_the_jdk_and_an_injection_point() {
    assertEquals(APPLICATION_NEEDS, architecture.externalPackages("plant-application"));
  }

  @Test
  void edge_from_the_domain_outwards_is_noticed() {
    assertEquals(Map.of("plant-domain", Set.of("plant-application")), broken.moduleGraph());
  }

  @Test
  void edge_from_a_room_to_another_is_noticed() {
    JavaClasses rooms =
        new ClassFileImporter().importPackages("org.plantstore.adapter.counterexample");
    assertEquals(
        Map.of(
            "adapter.counterexample.error", Set.of("adapter.counterexample.token"),
            "adapter.counterexample.token", Set.of()),
        new Architecture(rooms).roomGraph());
  }

  @Test
  void package_that_the_domain_may_not_need_is_noticed() {
    Set<String> excess = new TreeSet<>(broken.externalPackages("plant-domain"));
    excess.removeAll(DOMAIN_NEEDS);
    assertEquals(Set.of("java.sql"), excess);
  }

  @Test
  void technology_in_another_room_is_noticed() {
    assertEquals(
        Map.of("java.sql", Set.of("domain.counterexample")),
        broken.roomsByTechnology(ROOMS_BY_TECHNOLOGY.keySet()));
  }

  @Test
  void class_in_the_package_of_another_module_is_noticed() {
    assertEquals(
        Set.of("org.plantstore.domain.counterexample.DomainThatKnowsTooMuch"), broken.misplaced());
  }
}
