package org.plantstore.app;

import static java.util.stream.Collectors.toSet;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * The dependencies of modules and their rooms (packages) in the bytecode, on each other and on
 * libraries. A room is named by its package below {@code org.plantstore}.
 */
final class Architecture {

  private static final String ROOT = "org.plantstore.";

  private final JavaClasses classes;
  private final List<Need> needs;

  Architecture(JavaClasses classes) {
    this.classes = classes;
    // Every class needs at least java.lang, so every package is in the list.
    needs =
        classes.stream()
            .flatMap(owner ->
                owner.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(target -> !target.isPrimitive())
                    .map(target -> new Need(owner.getPackageName(), target.getPackageName())))
            .distinct()
            .toList();
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
    for (Need need : needs) {
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

  /** Returns the packages outside of the project that a module depends on. */
  Set<String> externalPackages(String module) {
    return needs.stream()
        .filter(need -> moduleOf(need.from()).equals(module) && !need.to().startsWith(ROOT))
        .map(Need::to)
        .collect(toSet());
  }

  /** Returns the rooms that depend on a technology, named by the prefix of its packages. */
  Set<String> roomsThatNeed(String technology) {
    return needs.stream()
        .filter(need -> isIn(need.to(), technology) && !isIn(need.from(), technology))
        .map(need -> roomOf(need.from()))
        .collect(toSet());
  }

  /** Returns the classes outside of the jar or folder of the module that owns their package. */
  Set<String> misplaced() {
    return classes.stream()
        .filter(shipped -> {
          String place = shipped.getSource().orElseThrow().getUri().toString();
          return !place.contains("/" + moduleOf(shipped.getPackageName()) + "/");
        })
        .map(JavaClass::getName)
        .collect(toSet());
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
