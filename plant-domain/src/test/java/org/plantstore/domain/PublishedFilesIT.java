package org.plantstore.domain;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Looks into the files that are published, so it runs after they have been packaged. */
class PublishedFilesIT {

  private static final String FILES = System.getProperty("published.files");

  @ParameterizedTest
  @CsvSource({
    ".jar, module-info.class|org/plantstore/domain/[^/]+",
    "-tests.jar, org/plantstore/domain/contract/[^/]+"
  })
  void jar_has_the_module_or_the_kit_for_java_17_and_nothing_else(String suffix, String names)
      throws IOException {
    try (JarFile jar = new JarFile(FILES + suffix)) {
      List<JarEntry> files =
          jar.stream()
              .filter(entry -> !entry.isDirectory() && !entry.getName().startsWith("META-INF/"))
              .toList();
      assertNotEquals(List.of(), files);
      for (JarEntry file : files) {
        assertTrue(file.getName().matches(names), file.getName());
        try (DataInputStream in = new DataInputStream(jar.getInputStream(file))) {
          assertEquals(0xCAFEBABE, in.readInt(), file.getName());
          assertEquals(61, in.readInt(), file.getName() + ": version of the class file");
        }
      }
    }
  }

  @Test
  void module_exports_its_package_and_needs_no_other_module_at_run_time() {
    ModuleDescriptor module =
        ModuleFinder.of(Path.of(FILES + ".jar"))
            .find("org.plantstore.domain")
            .orElseThrow()
            .descriptor();

    assertFalse(module.isOpen());
    assertEquals(Set.of(), module.opens());
    assertEquals(
        Set.of("org.plantstore.domain"),
        module.exports().stream().map(ModuleDescriptor.Exports::toString).collect(toSet()));
    assertEquals(
        Set.of("java.base"),
        module.requires().stream()
            .filter(requires -> !requires.modifiers().contains(Requires.Modifier.STATIC))
            .map(Requires::name)
            .collect(toSet()));
  }

  @Test
  void pom_says_all_that_it_has_to_by_itself() throws IOException {
    String pom = Files.readString(Path.of(".flattened-pom.xml"));

    for (String element : List.of("name", "description", "url", "licenses", "developers", "scm")) {
      assertTrue(pom.contains("\n  <" + element), element);
    }
    for (String element :
        List.of(
            "parent",
            "dependencies",
            "dependencyManagement",
            "build",
            "profiles",
            "repositories")) {
      assertFalse(pom.contains("<" + element), element);
    }
    assertFalse(pom.contains("/plant-domain</url>"), "an address that Maven has extended");
  }
}
