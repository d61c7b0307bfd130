package org.plantstore.domain;

import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Looks into the files that are published, so it runs after they have been packaged. */
class PublishedFilesIT {

  private static final String FILES = System.getProperty("published.files");

  /** The ends of the names of all jars, and for each what shows that the right things are in it. */
  private static final Map<String, List<String>> JARS =
      Map.of(
          ".jar",
          List.of("module-info.class", "org/plantstore/domain/Plant.class"),
          "-tests.jar",
          List.of("org/plantstore/domain/contract/PlantStoreContract.class"),
          "-sources.jar",
          List.of("module-info.java", "org/plantstore/domain/Plant.java"),
          "-test-sources.jar",
          List.of("org/plantstore/domain/contract/PlantStoreContract.java"),
          "-javadoc.jar",
          List.of("index.html", "org.plantstore.domain/org/plantstore/domain/Plant.html"),
          "-test-javadoc.jar",
          List.of("index.html", "org/plantstore/domain/contract/PlantStoreContract.html"));

  @Test
  void jars_are_there_with_what_their_names_say_and_no_others() throws IOException {
    String start = Path.of(FILES).getFileName().toString();
    try (Stream<Path> files = Files.list(Path.of(FILES).getParent())) {
      assertEquals(
          JARS.keySet().stream().filter(PublishedFilesIT::isMade).collect(toSet()),
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.startsWith(start) && name.endsWith(".jar"))
              .map(name -> name.substring(start.length()))
              .filter(PublishedFilesIT::isMade)
              .collect(toSet()));
    }
    for (Map.Entry<String, List<String>> shown : JARS.entrySet()) {
      if (isMade(shown.getKey())) {
        try (JarFile jar = new JarFile(FILES + shown.getKey())) {
          for (String name : shown.getValue()) {
            String where = name + " in " + shown.getKey();
            JarEntry file = jar.getJarEntry(name);
            assertNotNull(file, where);
            assertNotEquals(0, jar.getInputStream(file).readAllBytes().length, where);
          }
        }
      }
    }
  }

  /** Javadoc can be left out by an option; then an earlier build may have left its jars there. */
  private static boolean isMade(String jar) {
    return !(jar.endsWith("javadoc.jar") && Boolean.getBoolean("maven.javadoc.skip"));
  }

  @ParameterizedTest
  @CsvSource({
    ".jar, module-info.class|org/plantstore/domain/[^/]+",
    "-tests.jar, org/plantstore/domain/contract/[^/]+"
  })
  void jar_has_the_module_or_the_kit_for_java_17_and_nothing_else(String suffix, String names)
      throws IOException {
    try (JarFile jar = new JarFile(FILES + suffix)) {
      assertEquals(
          Set.of(
              "META-INF/MANIFEST.MF",
              "META-INF/maven/org.plantstore/plant-domain/pom.xml",
              "META-INF/maven/org.plantstore/plant-domain/pom.properties"),
          jar.stream()
              .filter(entry -> !entry.isDirectory())
              .map(JarEntry::getName)
              .filter(name -> name.startsWith("META-INF/"))
              .collect(toSet()));
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

  /** All of it, so nothing that consumers would have to fetch, such as a parent, is in it. */
  @Test
  void pom_says_all_that_it_has_to_by_itself_and_nothing_else() throws IOException {
    String name = "plant-domain-";
    String version = FILES.substring(FILES.lastIndexOf(name) + name.length());
    String expected =
        """
        <project>
          <modelVersion>4.0.0</modelVersion>
          <groupId>org.plantstore</groupId>
          <artifactId>plant-domain</artifactId>
          <version>%s</version>
          <name>Plant store: domain</name>
          <description>Plants, the port that creates them and the port that keeps them. \
        No framework, no runtime dependency.</description>
          <url>https://plantstore.org</url>
          <licenses>
            <license>
              <name>Apache-2.0</name>
              <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
            </license>
          </licenses>
          <developers>
            <developer>
              <name>The plant store's developers</name>
              <url>https://plantstore.org</url>
            </developer>
          </developers>
          <scm>
            <connection>scm:git:https://plantstore.org/plant-store.git</connection>
            <url>https://plantstore.org/plant-store.git</url>
          </scm>
        </project>
        """
            .formatted(version);

    String pom = Files.readString(Path.of(".flattened-pom.xml"));
    // Attributes name schemas, or are for children, which this POM has none of.
    String elements = pom.replaceAll("<\\?.*?\\?>\\s*", "").replaceAll("<(\\w+)\\s[^>]*>", "<$1>");

    assertEquals(expected.lines().toList(), elements.lines().toList());
  }
}
