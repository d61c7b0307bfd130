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
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The dependencies of modules and their rooms (packages) in the bytecode, on each other and on
 * libraries. A room is named by its package below {@code org.plantstore}.
 */
final class Architecture {

  private static final String ROOT = "org.plantstore.";
  private static final String ADAPTERS = ROOT + "adapter.";

  private final JavaClasses classes;

  Architecture(JavaClasses classes) {
    this.classes = classes;
  }

  /** Returns the other modules that each module with classes depends on. */
  Map<String, Set<String>> moduleGraph() {
    return graph(Architecture::moduleOf, name -> true);
  }

  /** Returns the other rooms of its adapter that each room of an adapter depends on. */
  Map<String, Set<String>> roomGraph() {
    Map<String, Set<String>> graph = graph(Architecture::roomOf, name -> name.startsWith(ADAPTERS));
    graph.replaceAll((room, needed) ->
        needed.stream()
            .filter(other -> moduleOf(ROOT + other).equals(moduleOf(ROOT + room)))
            .collect(toCollection(TreeSet::new)));
    return graph;
  }

  private Map<String, Set<String>> graph(
      UnaryOperator<String> ownerOf, Predicate<String> isOfGraph) {
    Map<String, Set<String>> graph = new TreeMap<>();
    for (JavaClass owner : classes) {
      if (isOfGraph.test(owner.getPackageName())) {
        String name = ownerOf.apply(owner.getPackageName());
        Set<String> needed = graph.computeIfAbsent(name, unit -> new TreeSet<>());
        packagesNeededBy(owner)
            .filter(other -> other.startsWith(ROOT) && isOfGraph.test(other))
            .map(ownerOf)
            .filter(other -> !other.equals(name))
            .forEach(needed::add);
      }
    }
    return graph;
  }

  /** Returns the packages outside of the project that a module depends on. */
  Set<String> externalPackages(String module) {
    return classes.stream()
        .filter(owner -> moduleOf(owner.getPackageName()).equals(module))
        .flatMap(Architecture::packagesNeededBy)
        .filter(name -> !name.startsWith(ROOT))
        .collect(toCollection(TreeSet::new));
  }

  /** Returns the rooms that depend on each technology, named by the prefix of its packages. */
  Map<String, Set<String>> roomsByTechnology(Set<String> technologies) {
    return classes.stream()
        .flatMap(owner ->
            packagesNeededBy(owner)
                .flatMap(name -> technologies.stream().filter(prefix -> isIn(name, prefix)))
                .filter(prefix -> !isIn(owner.getPackageName(), prefix))
                .map(prefix -> Map.entry(prefix, roomOf(owner.getPackageName()))))
        .collect(
            groupingBy(
                Map.Entry::getKey,
                TreeMap::new,
                mapping(Map.Entry::getValue, toCollection(TreeSet::new))));
  }

  /** Returns the classes outside of the jar or folder of the module that owns their package. */
  Set<String> misplaced() {
    return classes.stream()
        .filter(shipped ->
            !shipped
                .getSource()
                .orElseThrow()
                .getUri()
                .toString()
                .contains("/" + moduleOf(shipped.getPackageName()) + "/"))
        .map(JavaClass::getName)
        .collect(toCollection(TreeSet::new));
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

  private static Stream<String> packagesNeededBy(JavaClass owner) {
    return owner.getDirectDependenciesFromSelf().stream()
        .map(dependency -> dependency.getTargetClass().getBaseComponentType())
        .filter(target -> !target.isPrimitive())
        .map(JavaClass::getPackageName);
  }
}
