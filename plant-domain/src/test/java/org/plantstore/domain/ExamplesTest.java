package org.plantstore.domain;

import static java.util.regex.Pattern.DOTALL;
import static java.util.regex.Pattern.MULTILINE;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the examples; in one, {@code expression; // value} says what comes out. */
class ExamplesTest {

  private static final Path SOURCES = Path.of("src/main/java/org/plantstore/domain");

  private static final Pattern EXAMPLE =
      Pattern.compile("<pre>\\{@code\n(.*?)^}</pre>|^```java\n(.*?)^```", DOTALL | MULTILINE);
  private static final Pattern MARGIN = Pattern.compile("^ *\\* ?", MULTILINE);
  private static final Pattern VALUE = Pattern.compile("^( *)(\\S.*); // (.+)$", MULTILINE);

  @Test
  void every_public_type_has_an_example() throws IOException {
    String code = sources().stream().map(ExamplesTest::read).collect(joining());

    PublicApi.types("target/classes", "org.plantstore.domain")
        .forEach(type -> {
          MatchResult declaration =
              Pattern.compile(
                      "^ *public .*(class|interface|record|enum) " + type.getSimpleName() + "\\b",
                      MULTILINE)
                  .matcher(code)
                  .results()
                  .findFirst()
                  .orElseThrow();
          String before = code.substring(0, declaration.start());
          assertTrue(
              examples(withoutMargin(before.substring(before.lastIndexOf("/**"))))
                  .findAny()
                  .isPresent(),
              type + " has no example that is run");
        });
  }

  @TestFactory
  Stream<DynamicTest> every_example_is_right(@TempDir Path folder) throws IOException {
    return Stream.concat(sources().stream(), Stream.of(Path.of("README.md")))
        .flatMap(source -> {
          String text = withoutMargin(read(source));
          return examples(text)
              .map(example -> {
                long line = text.substring(0, example.start()).lines().count();
                String name = source.getFileName() + ", line " + line;
                String code = example.group(1) == null ? example.group(2) : example.group(1);
                return dynamicTest(
                    name, () -> run(name, code, Files.createTempDirectory(folder, "example")));
              });
        });
  }

  private static String withoutMargin(String text) {
    return MARGIN.matcher(text).replaceAll("");
  }

  private static Stream<MatchResult> examples(String text) {
    return EXAMPLE.matcher(text).results();
  }

  private static void run(String name, String example, Path folder) throws Exception {
    compile(name, example, folder);
    AtomicInteger checks = new AtomicInteger();
    BiConsumer<@Nullable Object, @Nullable Object> check =
        (actual, expected) -> {
          assertEquals(expected, actual, name);
          checks.incrementAndGet();
        };
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      @SuppressWarnings("unchecked") // as it is declared below
      var compiled =
          (Consumer<BiConsumer<@Nullable Object, @Nullable Object>>)
              loader.loadClass("Example").getConstructor().newInstance();
      compiled.accept(check);
    }
    long values = VALUE.matcher(example).results().count();
    assertNotEquals(0, values, name + ": lines with a value");
    assertEquals(values, checks.get(), name + ": lines with a value that were reached");
  }

  /** Without JSpecify, as most consumers do, and as strictly as some do. */
  private static void compile(String name, String example, Path folder) throws IOException {
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

        public final class Example implements Consumer<BiConsumer<Object, Object>> {
          @Override
          public void accept(BiConsumer<Object, Object> check) {
        %s
          }
        }
        """
            .formatted(VALUE.matcher(example).replaceAll("$1check.accept($2, $3);")));
    String[] options = {
      "--release",
      "17",
      "-Xlint:all",
      "-Werror",
      "--class-path",
      "target/classes",
      source.toString()
    };
    StringWriter messages = new StringWriter();
    PrintWriter out = new PrintWriter(messages);

    int status = ToolProvider.findFirst("javac").orElseThrow().run(out, out, options);

    assertEquals(0, status, () -> name + ": " + messages);
  }

  private static String read(Path source) {
    try {
      return Files.readString(source);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files.sorted().toList();
    }
  }
}
