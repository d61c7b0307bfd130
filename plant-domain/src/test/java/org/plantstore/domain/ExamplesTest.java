package org.plantstore.domain;

import static java.util.regex.Pattern.DOTALL;
import static java.util.regex.Pattern.MULTILINE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the examples of the javadoc and the README: {@code expression; // expected value}. */
@Tag("newest")
class ExamplesTest {

  private static final Path SOURCES = Path.of("src/main/java/org/plantstore/domain");

  private static final String CLASSES = "target/classes";

  private static final Pattern MARGIN = Pattern.compile("^ *\\* ?", MULTILINE);
  private static final Pattern EXAMPLE =
      Pattern.compile("(?:<pre>\\{@code|^```java)\n(.*?)^(?:}</pre>|```)", DOTALL | MULTILINE);
  private static final Pattern VALUE = Pattern.compile("^( *)(\\S.*); // (.+)$", MULTILINE);
  private static final Pattern PUBLIC_TYPE =
      Pattern.compile("^ *public .*(?:class|interface|record|enum) \\w+", MULTILINE);

  @Test
  void every_public_type_has_an_example() throws IOException {
    for (Path source : sources()) {
      String text = Files.readString(source);
      PUBLIC_TYPE
          .matcher(text)
          .results()
          .forEach(type -> {
            String before = text.substring(0, type.start());
            String javadoc = before.substring(before.lastIndexOf("/**"));
            assertTrue(EXAMPLE.matcher(MARGIN.matcher(javadoc).replaceAll("")).find(), type::group);
          });
    }
  }

  static List<Arguments> examples() throws IOException {
    List<Arguments> examples = new ArrayList<>();
    for (Path source : sources()) {
      String text = MARGIN.matcher(Files.readString(source)).replaceAll("");
      EXAMPLE
          .matcher(text)
          .results()
          .forEach(found -> {
            long line = text.substring(0, found.start()).lines().count();
            examples.add(arguments(source.getFileName() + ", line " + line, found.group(1)));
          });
    }
    return examples;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("examples")
  void example_evaluates_to_its_comments(String place, String code, @TempDir Path folder)
      throws Exception {
    compile(code, folder);
    List<@Nullable Object> actual = new ArrayList<>();
    List<@Nullable Object> expected = new ArrayList<>();
    BiConsumer<@Nullable Object, @Nullable Object> compare =
        (value, comment) -> {
          actual.add(value);
          expected.add(comment);
        };

    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      loader.loadClass("Example").getMethod("run", BiConsumer.class).invoke(null, compare);
    }

    assertEquals(expected, actual);
    assertNotEquals(0, actual.size(), place + " has no value");
    assertEquals(VALUE.matcher(code).results().count(), actual.size(), "values that were reached");
  }

  /** Compiles without JSpecify, as most consumers do, and with all warnings as errors. */
  private static void compile(String code, Path folder) throws IOException {
    Path source = folder.resolve("Example.java");
    Files.writeString(
        source,
        """
        import java.util.*;
        import java.util.concurrent.*;
        import java.util.concurrent.atomic.*;
        import java.util.function.*;
        import org.plantstore.domain.*;
        import org.plantstore.domain.InvalidPlantException.Violation;

        public final class Example {
          public static void run(BiConsumer<Object, Object> compare) {
        %s
          }
        }
        """
            .formatted(VALUE.matcher(code).replaceAll("$1compare.accept($2, $3);")));
    PublicApiTest.run(
        "javac", "--release", "17", "-Xlint:all", "-Werror", "-cp", CLASSES, source.toString());
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return Stream.concat(files.sorted(), Stream.of(Path.of("README.md"))).toList();
    }
  }
}
