package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks the files that are published, so it runs after they have been packaged. */
@Tag("newest")
class PublishedFilesIT {

  private static final String FILES = System.getProperty("published.files");

  @ParameterizedTest
  @CsvSource({
    "-sources.jar, org/plantstore/domain/Plant.java",
    "-test-sources.jar, org/plantstore/domain/contract/PlantStoreContract.java",
    "-javadoc.jar, org.plantstore.domain/org/plantstore/domain/Plant.html",
    "-test-javadoc.jar, org/plantstore/domain/contract/PlantStoreContract.html"
  })
  void sources_and_javadoc_are_published(String suffix, String name) throws IOException {
    assumeFalse(suffix.endsWith("javadoc.jar") && Boolean.getBoolean("maven.javadoc.skip"));

    try (JarFile jar = new JarFile(FILES + suffix)) {
      assertNotEquals(0, jar.getInputStream(jar.getEntry(name)).readAllBytes().length);
    }
  }

  @ParameterizedTest
  @CsvSource({
    ".jar, module-info.class, module-info.class|org/plantstore/domain/[^/]+",
    "-tests.jar, org/plantstore/domain/contract/PlantStoreContract.class,"
        + " org/plantstore/domain/contract/[^/]+"
  })
  void jar_has_the_module_or_the_kit_for_java_17_and_nothing_else(
      String suffix, String required, String allowed) throws IOException {
    try (JarFile jar = new JarFile(FILES + suffix)) {
      List<String> names =
          jar.stream().filter(entry -> !entry.isDirectory()).map(JarEntry::getName).toList();
      assertTrue(names.containsAll(List.of(required, "META-INF/LICENSE")), names.toString());
      for (String name : names) {
        if (name.startsWith("META-INF/")) {
          assertTrue(name.matches("META-INF/(MANIFEST.MF|LICENSE|maven/.+)"), name);
          continue;
        }
        assertTrue(name.matches(allowed), name);
        try (DataInputStream in = new DataInputStream(jar.getInputStream(jar.getEntry(name)))) {
          assertEquals(0xCAFEBABE, in.readInt(), name);
          assertEquals(61, in.readInt(), name + ": version of the class file");
        }
      }
    }
  }
}
