package org.plantstore.app;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.Predefined;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The dependency graphs of all modules and their rooms (packages), computed from the bytecode,
 * equal the expected ones: added edges, missing edges and cycles fail. A room is named by its
 * package below {@code org.plantstore}.
 */
@Tag("newest")
class ArchitectureTest {

  private static final String ROOT = "org.plantstore.";

  /** The service depends on the domain because it looks for an implementation of its port. */
  private static final Map<String, Set<String>> MODULE_GRAPH =
      graph(
          """
          plant-domain              ->
          plant-application         -> plant-domain
          plant-adapter-http        -> plant-domain
          plant-adapter-persistence -> plant-domain
          plant-client              -> plant-domain
          plant-app                 -> plant-application plant-domain
          """);

  private static final Map<String, Set<String>> ROOM_GRAPH =
      graph(
          """
          @http                    -> @http.error @http.observe
          @http.startup            -> @http.cors @http.tls @http.token
          @http.cors               -> @http.error
          @http.error              ->
          @http.token              -> @http.error @http.observe @http.renewal
          @http.tls                -> @http.renewal
          @http.renewal            ->
          @http.document           -> @http.error
          @http.observe            -> @http.error
          @http.connection         -> @http.cors @http.error @http.observe
          @persistence             ->
          """);

  /** The advisories of September 2026 concern only services that use those of the last lines. */
  private static final Map<String, Set<String>> ROOMS_BY_TECHNOLOGY =
      graph(
          """
          org.plantstore.domain          -> app application client @http @persistence
          com.fasterxml.jackson          -> app client @http @http.token
          com.github.benmanes.caffeine   -> @http.token
          com.nimbusds                   -> @http.token
          io.micronaut.security          -> @http.token @http.document
          io.netty                       -> @http.connection @http.cors @http.document @http.observe
          org.webjars                    -> @http.document
          org.yaml                       -> @http.document
          com.zaxxer.hikari              -> @persistence
          io.micronaut.data              -> @persistence
          org.flywaydb                   -> @persistence
          java.sql                       -> @persistence
          org.postgresql                 -> @persistence
          io.micronaut.data.annotation   ->
          io.micronaut.data.jdbc.annotation ->
          io.micronaut.data.model        ->
          io.micronaut.websocket         ->
          """);

  private static final Map<String, Set<String>> EXTERNAL_PACKAGES =
      graph(
          """
          plant-domain      -> java.io java.lang java.util java.util.concurrent java.util.function java.util.stream org.jspecify.annotations
          plant-client      -> com.fasterxml.jackson.core com.fasterxml.jackson.core.io java.io java.lang java.net java.net.http java.nio.channels java.security.cert java.time java.time.format java.time.temporal java.util java.util.concurrent java.util.function org.jspecify.annotations
          plant-application -> java.lang java.util java.util.concurrent jakarta.inject org.jspecify.annotations
          """);

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("org.plantstore");

  /** Every class needs at least java.lang, so every package is in the list. */
  private static final List<Need> NEEDS =
      CLASSES.stream()
          .flatMap(owner ->
              owner.getDirectDependenciesFromSelf().stream()
                  .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                  .filter(target -> !target.isPrimitive())
                  .map(target -> new Need(owner.getPackageName(), target.getPackageName())))
          .distinct()
          .toList();

  /** A dependency of a package of the project on another package. */
  private record Need(String from, String to) {}

  @Test
  void every_module_needs_exactly_the_modules_that_the_hexagon_gives_it() {
    assertEquals(MODULE_GRAPH, graphOf(ROOT, ArchitectureTest::moduleOf));
  }

  @Test
  void every_room_of_an_adapter_needs_exactly_the_rooms_that_are_named_here() {
    assertEquals(ROOM_GRAPH, graphOf(ROOT + "adapter.", ArchitectureTest::roomOf));
  }

  @Test
  void every_class_is_shipped_by_the_module_that_its_package_names() {
    for (JavaClass shipped : CLASSES) {
      String file = shipped.getSource().orElseThrow().getUri().toString();
      String folder =
          file.replace("plant-adapter-http/src/client", "plant-client")
              .replaceFirst(".*/(plant-[a-z-]+)/.*", "$1");
      assertEquals(moduleOf(shipped.getPackageName()), folder, shipped::getName);
    }
  }

  @Test
  void every_technology_is_in_its_rooms_and_nowhere_else() {
    ROOMS_BY_TECHNOLOGY.forEach((technology, rooms) ->
        assertEquals(
            rooms,
            NEEDS.stream()
                .filter(need -> isIn(need.to(), technology) && !isIn(need.from(), technology))
                .map(need -> roomOf(need.from()))
                .collect(toSet()),
            technology));
  }

  @Test
  void domain_needs_only_the_jdk_the_client_json_too_and_the_application_an_injection_point() {
    EXTERNAL_PACKAGES.forEach((module, packages) ->
        assertEquals(
            packages,
            NEEDS.stream()
                .filter(need -> moduleOf(need.from()).equals(module) && !need.to().startsWith(ROOT))
                .map(Need::to)
                .collect(toSet())));
  }

  /** Returns the other nodes that each node depends on, of those with this prefix. */
  private static Map<String, Set<String>> graphOf(String prefix, UnaryOperator<String> nodeOf) {
    Map<String, Set<String>> graph = new TreeMap<>();
    for (Need need : NEEDS) {
      if (need.from().startsWith(prefix)) {
        String node = nodeOf.apply(need.from());
        Set<String> needed = graph.computeIfAbsent(node, name -> new TreeSet<>());
        if (need.to().startsWith(prefix) && !nodeOf.apply(need.to()).equals(node)) {
          needed.add(nodeOf.apply(need.to()));
        }
      }
    }
    return graph;
  }

  private static String roomOf(String packageName) {
    return packageName.substring(ROOT.length());
  }

  /** Returns the first part of a room's name, or the first two if it is in an adapter. */
  private static String moduleOf(String packageName) {
    return roomOf(packageName)
        .replaceFirst("^(adapter\\.\\w+|\\w+).*", "plant-$1")
        .replace('.', '-');
  }

  private static boolean isIn(String packageName, String prefix) {
    return (packageName + ".").startsWith(prefix + ".");
  }

  /** Parses a line for each node, with its targets; @ stands for an adapter. */
  private static Map<String, Set<String>> graph(String text) {
    return text.replace("@", "adapter.")
        .lines()
        .map(line -> line.split(" *-> ?| "))
        .collect(toMap(line -> line[0], line -> Stream.of(line).skip(1).collect(toSet())));
  }
}
