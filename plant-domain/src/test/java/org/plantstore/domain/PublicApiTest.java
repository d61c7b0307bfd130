package org.plantstore.domain;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the {@code javap} listing of the module and of the contract test kit with the accepted
 * listing in {@code public-api.txt}.
 */
@Tag("newest")
class PublicApiTest {

  private static final Path ACCEPTED = Path.of("public-api.txt");

  @Test
  void public_api_matches_the_accepted_listing() throws IOException {
    String listing =
        Stream.of(javap("target/classes", "target/test-classes/org/plantstore/domain/contract"))
            .filter(type -> type.startsWith("public ") || type.startsWith("module "))
            .map(type -> type.replaceAll("(module \\S+)@\\S+", "$1"))
            .collect(joining("\n"));

    if (Boolean.getBoolean("public-api.accept")) {
      Files.writeString(ACCEPTED, listing);
    }
    assertEquals(
        Files.readString(ACCEPTED),
        listing,
        "The public API has changed. If the change is intended, describe it in CHANGELOG.md, and"
            + " accept the new listing with: mvn -pl plant-domain test -Dtest=PublicApiTest"
            + " -Dpublic-api.accept");
  }

  private static String[] javap(String... folders) throws IOException {
    Stream.Builder<String> arguments = Stream.<String>builder().add("-protected");
    for (String folder : folders) {
      try (Stream<Path> files = Files.walk(Path.of(folder))) {
        files
            .map(Path::toString)
            .filter(file -> file.endsWith(".class"))
            .sorted()
            .forEach(arguments);
      }
    }
    StringWriter output = new StringWriter();
    PrintWriter out = new PrintWriter(output);
    ToolProvider javap = ToolProvider.findFirst("javap").orElseThrow();
    assertEquals(0, javap.run(out, out, arguments.build().toArray(String[]::new)));
    return output.toString().split("Compiled from .*\\R");
  }
}
