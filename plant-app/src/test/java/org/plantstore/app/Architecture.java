package org.plantstore.app;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The dependencies of modules and their rooms (packages) in the bytecode, on each other and on
 * libraries. A room is named by its package below {@code org.plantstore}.
 */
final class Architecture {

  private static final String ROOT = "org.plantstore.";

  private final JavaClasses classes;

  Architecture(JavaClasses classes) {
    this.classes = classes;
  }

  /** A dependency of a package of the project on another package. */
  private record Need(String from, String to) {}

  /** Returns the other modules that each module with classes depends on. */
  Map<String, Set<String>> moduleGraph() {
    return graph(ROOT, Architecture::moduleOf);
  }

  /** Returns the other rooms of adapters that each room of an adapter depends on. */
  Map<String, Set<String>> roomGraph() {
    return graph(ROOT + "adapter.", Architecture::roomOf);
  }

  private Map<String, Set<String>> graph(String prefix, UnaryOperator<String> nodeOf) {
    Map<String, Set<String>> graph = new TreeMap<>();
    needs()
        .filter(need -> need.from().startsWith(prefix))
        .forEach(need -> {
          String node = nodeOf.apply(need.from());
          Set<String> needed = graph.computeIfAbsent(node, name -> new TreeSet<>());
          if (need.to().startsWith(prefix) && !nodeOf.apply(need.to()).equals(node)) {
            needed.add(nodeOf.apply(need.to()));
          }
        });
    return graph;
  }

  /** Returns the packages outside of the project that a module depends on. */
  Set<String> externalPackages(String module) {
    return needs()
        .filter(need -> moduleOf(need.from()).equals(module))
        .map(Need::to)
        .filter(name -> !name.startsWith(ROOT))
        .collect(toCollection(TreeSet::new));
  }

  /** Returns the rooms that depend on each technology, named by the prefix of its packages. */
  Map<String, Set<String>> roomsByTechnology(Set<String> technologies) {
    return needs()
        .flatMap(need ->
            technologies.stream()
                .filter(prefix -> isIn(need.to(), prefix) && !isIn(need.from(), prefix))
                .map(prefix -> Map.entry(prefix, roomOf(need.from()))))
        .collect(
            groupingBy(
                Map.Entry::getKey,
                TreeMap::new,
                mapping(Map.Entry::getValue, toCollection(TreeSet::new))));
  }

  /** Returns the classes outside of the jar or folder of the module that owns their package. */
  Set<String> misplaced() {
    return classes.stream()
        .filter(shipped -> {
          String place = shipped.getSource().orElseThrow().getUri().toString();
          return !place.contains("/" + moduleOf(shipped.getPackageName()) + "/");
        })
        .map(JavaClass::getName)
        .collect(toCollection(TreeSet::new));
  }

  /** Every class needs at least {@code java.lang}, so every package is in the stream. */
  private Stream<Need> needs() {
    return classes.stream()
        .flatMap(owner ->
            owner.getDirectDependenciesFromSelf().stream()
                .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                .filter(target -> !target.isPrimitive())
                .map(target -> new Need(owner.getPackageName(), target.getPackageName())));
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
}
