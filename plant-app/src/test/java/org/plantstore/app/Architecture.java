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
import java.util.stream.Stream;

/** What bytecode says about modules: who needs whom, and who needs what from outside. */
final class Architecture {

  private static final String ROOT = "org.plantstore.";

  private static final Map<String, String> MODULES =
      Map.of(
          "org.plantstore.domain", "plant-domain",
          "org.plantstore.application", "plant-application",
          "org.plantstore.adapter.http", "plant-adapter-http",
          "org.plantstore.adapter.persistence", "plant-adapter-persistence",
          "org.plantstore.app", "plant-app");

  private final JavaClasses classes;

  Architecture(JavaClasses classes) {
    this.classes = classes;
  }

  /** Answers for each module that owns a class the other modules that its classes need. */
  Map<String, Set<String>> moduleGraph() {
    Map<String, Set<String>> graph = new TreeMap<>();
    for (JavaClass owner : classes) {
      String module = moduleOf(owner.getPackageName());
      Set<String> needed = graph.computeIfAbsent(module, name -> new TreeSet<>());
      packagesNeededBy(owner)
          .filter(name -> name.startsWith(ROOT))
          .map(Architecture::moduleOf)
          .filter(other -> !other.equals(module))
          .forEach(needed::add);
    }
    return graph;
  }

  /** Answers the packages outside of the project that a module's classes need. */
  Set<String> externalPackages(String module) {
    return classes.stream()
        .filter(owner -> moduleOf(owner.getPackageName()).equals(module))
        .flatMap(Architecture::packagesNeededBy)
        .filter(name -> !name.startsWith(ROOT))
        .collect(toCollection(TreeSet::new));
  }

  /** Answers for each technology, named by the start of its packages, the modules that need it. */
  Map<String, Set<String>> modulesByTechnology(Set<String> technologies) {
    return classes.stream()
        .flatMap(owner ->
            packagesNeededBy(owner)
                .flatMap(name -> technologies.stream().filter(prefix -> isIn(name, prefix)))
                .map(prefix -> Map.entry(prefix, moduleOf(owner.getPackageName()))))
        .collect(
            groupingBy(
                Map.Entry::getKey,
                TreeMap::new,
                mapping(Map.Entry::getValue, toCollection(TreeSet::new))));
  }

  /** Answers the classes that are in another module's jar or folder than their package says. */
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

  private static String moduleOf(String packageName) {
    return MODULES.entrySet().stream()
        .filter(module -> isIn(packageName, module.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no module owns the package " + packageName));
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
