package org.plantstore.app;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.Predefined;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The dependency graph of all modules, computed from the bytecode, equals the expected one: added
 * edges, missing edges and cycles fail.
 */
@Tag("newest")
class ArchitectureTest {

  /** The service depends on the domain because it looks for an implementation of its port. */
  private static final Map<String, Set<String>> MODULE_GRAPH =
      graph(
          """
          plant-domain              ->
          plant-application         -> plant-domain
          plant-adapter-http        -> plant-domain
          plant-adapter-persistence -> plant-domain
          plant-app                 -> plant-application plant-domain
          """);

  private static final Map<String, Set<String>> ROOM_GRAPH =
      graph(
          """
          @http                    -> @http.error @http.observe @http.tls @http.token
          @http.error              ->
          @http.token              -> @http.error @http.observe
          @http.tls                ->
          @http.document           -> @http.error
          @http.observe            -> @http.error
          @http.connection         -> @http.error @http.observe
          @persistence             -> @persistence.batch @persistence.database @persistence.requirement
          @persistence.batch       ->
          @persistence.database    ->
          @persistence.requirement -> @persistence.database
          """);

  /** The advisories of September 2026 concern only services that use those of the last lines. */
  private static final Map<String, Set<String>> ROOMS_BY_TECHNOLOGY =
      graph(
          """
          org.plantstore.domain          -> app application @http @persistence @persistence.batch
          com.fasterxml.jackson          -> @http
          com.github.benmanes.caffeine   -> @http.token
          com.nimbusds                   -> @http.token
          io.micronaut.security          -> @http.token @http.document
          io.netty                       -> @http.connection @http.document @http.observe
          org.webjars                    -> @http.document
          org.yaml                       -> @http.document
          com.zaxxer.hikari              -> @persistence.database
          io.micronaut.data              -> @persistence @persistence.database
          org.flywaydb                   -> @persistence.requirement
          java.sql                       -> @persistence @persistence.database @persistence.requirement
          org.postgresql                 -> @persistence.database @persistence.requirement
          io.micronaut.data.annotation   ->
          io.micronaut.data.jdbc.annotation ->
          io.micronaut.data.model        ->
          io.micronaut.websocket         ->
          """);

  private static final Map<String, Set<String>> EXTERNAL_PACKAGES =
      graph(
          """
          plant-domain      -> java.io java.lang java.util java.util.concurrent java.util.function java.util.stream org.jspecify.annotations
          plant-application -> java.lang java.util.concurrent jakarta.inject org.jspecify.annotations
          """);

  private static final Architecture ARCHITECTURE =
      new Architecture(
          new ClassFileImporter()
              .withImportOption(Predefined.DO_NOT_INCLUDE_TESTS)
              .importPackages("org.plantstore"));

  /** Shows that each rule can fail. */
  private static final Architecture BROKEN =
      new Architecture(
          new ClassFileImporter().importPackages("org.plantstore.domain.counterexample"));

  @Test
  void every_module_needs_exactly_the_modules_that_the_hexagon_gives_it() {
    assertEquals(MODULE_GRAPH, ARCHITECTURE.moduleGraph());
  }

  @Test
  void every_room_of_an_adapter_needs_exactly_the_rooms_that_are_named_here() {
    assertEquals(ROOM_GRAPH, ARCHITECTURE.roomGraph());
  }

  @Test
  void every_class_is_shipped_by_the_module_that_its_package_names() {
    assertEquals(Set.of(), ARCHITECTURE.misplaced());
  }

  @Test
  void every_technology_is_in_its_rooms_and_nowhere_else() {
    ROOMS_BY_TECHNOLOGY.forEach((technology, rooms) ->
        assertEquals(rooms, ARCHITECTURE.roomsThatNeed(technology), technology));
  }

  @Test
  void domain_needs_only_the_jdk_and_the_application_an_injection_point_too() {
    EXTERNAL_PACKAGES.forEach(
        (module, packages) -> assertEquals(packages, ARCHITECTURE.externalPackages(module)));
  }

  @Test
  void edges_of_the_domain_to_modules_and_technologies_and_a_misplaced_class_are_noticed() {
    assertEquals(Map.of("plant-domain", Set.of("plant-application")), BROKEN.moduleGraph());
    assertTrue(BROKEN.externalPackages("plant-domain").contains("java.sql"));
    assertEquals(Set.of("domain.counterexample"), BROKEN.roomsThatNeed("java.sql"));
    assertEquals(
        Set.of("org.plantstore.domain.counterexample.DomainThatKnowsTooMuch"), BROKEN.misplaced());
  }

  /** Parses a line for each node, with its targets; @ stands for an adapter. */
  private static Map<String, Set<String>> graph(String text) {
    return text.replace("@", "adapter.")
        .lines()
        .map(line -> line.split(" *-> ?| "))
        .collect(toMap(line -> line[0], line -> Stream.of(line).skip(1).collect(toSet())));
  }
}
