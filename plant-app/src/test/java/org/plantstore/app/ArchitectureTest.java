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
 * Compares the dependency graphs of all modules and packages, computed from the bytecode, with the
 * expected graphs. An added or missing edge fails a test. The expected graphs contain no cycles.
 * Packages are named relative to {@code org.plantstore}.
 */
@Tag("newest")
class ArchitectureTest {

  private static final String ROOT = "org.plantstore.";

  /** {@code plant-app} depends on the domain because it looks for a {@code PlantStore}. */
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

  private static final Map<String, Set<String>> PACKAGE_GRAPH =
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

  /**
   * Nothing may use the packages on the last lines, because the security advisories of September
   * 2026 affect only services that use them.
   */
  private static final Map<String, Set<String>> PACKAGES_BY_TECHNOLOGY =
      graph(
          """
          org.plantstore.domain          -> app application client @http @persistence
          com.fasterxml.jackson          -> app client @http @http.token
          com.github.benmanes.caffeine   -> @http.token
          com.nimbusds                   -> @http.token
          io.micronaut.security          -> @http.token @http.document
          io.netty                       -> @http.connection @http.cors @http.document @http.observe
          org.webjars                    -> @http.document
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

  /** All edges. Every class depends at least on {@code java.lang}, so every package has an edge. */
  private static final List<Edge> EDGES =
      CLASSES.stream()
          .flatMap(owner ->
              owner.getDirectDependenciesFromSelf().stream()
                  .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                  .filter(target -> !target.isPrimitive())
                  .map(target -> new Edge(owner.getPackageName(), target.getPackageName())))
          .distinct()
          .toList();

  /** A dependency of one of the project's packages on another package. */
  private record Edge(String from, String to) {}

  @Test
  void modules_depend_exactly_on_the_modules_that_the_hexagon_allows() {
    assertEquals(MODULE_GRAPH, graphOf(ROOT, ArchitectureTest::moduleOf));
  }

  @Test
  void packages_of_the_adapters_depend_exactly_on_the_expected_packages() {
    assertEquals(PACKAGE_GRAPH, graphOf(ROOT + "adapter.", ArchitectureTest::relativeName));
  }

  @Test
  void every_class_is_in_the_module_that_its_package_names() {
    for (JavaClass shipped : CLASSES) {
      String file = shipped.getSource().orElseThrow().getUri().toString();
      String folder =
          file.replace("plant-adapter-http/src/client", "plant-client")
              .replaceFirst(".*/(plant-[a-z-]+)/.*", "$1");
      assertEquals(moduleOf(shipped.getPackageName()), folder, shipped::getName);
    }
  }

  @Test
  void every_technology_is_used_by_exactly_the_expected_packages() {
    PACKAGES_BY_TECHNOLOGY.forEach((technology, packages) ->
        assertEquals(
            packages,
            EDGES.stream()
                .filter(edge -> isIn(edge.to(), technology) && !isIn(edge.from(), technology))
                .map(edge -> relativeName(edge.from()))
                .collect(toSet()),
            technology));
  }

  @Test
  void domain_client_and_application_use_only_the_listed_external_packages() {
    EXTERNAL_PACKAGES.forEach((module, packages) ->
        assertEquals(
            packages,
            EDGES.stream()
                .filter(edge -> moduleOf(edge.from()).equals(module) && !edge.to().startsWith(ROOT))
                .map(Edge::to)
                .collect(toSet())));
  }

  /** Returns the dependency graph of all packages with this prefix, grouped into nodes. */
  private static Map<String, Set<String>> graphOf(String prefix, UnaryOperator<String> nodeOf) {
    Map<String, Set<String>> graph = new TreeMap<>();
    for (Edge edge : EDGES) {
      if (edge.from().startsWith(prefix)) {
        String node = nodeOf.apply(edge.from());
        Set<String> targets = graph.computeIfAbsent(node, name -> new TreeSet<>());
        if (edge.to().startsWith(prefix) && !nodeOf.apply(edge.to()).equals(node)) {
          targets.add(nodeOf.apply(edge.to()));
        }
      }
    }
    return graph;
  }

  private static String relativeName(String packageName) {
    return packageName.substring(ROOT.length());
  }

  /** Returns the name of the module that contains this package. */
  private static String moduleOf(String packageName) {
    return relativeName(packageName)
        .replaceFirst("^(adapter\\.\\w+|\\w+).*", "plant-$1")
        .replace('.', '-');
  }

  private static boolean isIn(String packageName, String prefix) {
    return (packageName + ".").startsWith(prefix + ".");
  }

  /** Parses a graph that lists one node and its targets on each line. An @ replaces "adapter.". */
  private static Map<String, Set<String>> graph(String text) {
    return text.replace("@", "adapter.")
        .lines()
        .map(line -> line.split(" *-> ?| "))
        .collect(toMap(line -> line[0], line -> Stream.of(line).skip(1).collect(toSet())));
  }
}
