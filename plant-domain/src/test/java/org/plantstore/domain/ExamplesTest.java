package org.plantstore.domain;

import static java.util.regex.Pattern.DOTALL;
import static java.util.regex.Pattern.MULTILINE;
import static org.junit.jupiter.api.Assertions.assertEquals;

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

/** Runs the examples of the javadoc and the README: {@code expression; // expected value}. */
@Tag("newest")
class ExamplesTest {

  private static final Pattern MARGIN = Pattern.compile("^ *\\* ?", MULTILINE);
  private static final Pattern EXAMPLE =
      Pattern.compile("(?:<pre>\\{@code|^```java)\n(.*?)^(?:}</pre>|```)", DOTALL | MULTILINE);
  private static final Pattern VALUE = Pattern.compile("^( *)(\\S.*); // (.+)$", MULTILINE);

  @Test
  void examples_evaluate_to_their_comments(@TempDir Path folder) throws Exception {
    String examples = examples();
    compile(examples, folder);
    List<@Nullable Object> actual = new ArrayList<>();
    List<@Nullable Object> expected = new ArrayList<>();
    BiConsumer<@Nullable Object, @Nullable Object> compare =
        (value, comment) -> {
          actual.add(value);
          expected.add(comment);
        };

    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      loader.loadClass("Examples").getMethod("run", BiConsumer.class).invoke(null, compare);
    }

    assertEquals(expected, actual);
    assertEquals(VALUE.matcher(examples).results().count(), actual.size(), "values reached");
  }

  private static String examples() throws IOException {
    StringBuilder examples = new StringBuilder();
    try (Stream<Path> files = Files.list(Path.of("src/main/java/org/plantstore/domain"))) {
      for (Path file : Stream.concat(files, Stream.of(Path.of("README.md"))).toList()) {
        EXAMPLE
            .matcher(MARGIN.matcher(Files.readString(file)).replaceAll(""))
            .results()
            .forEach(example -> examples.append("{\n" + example.group(1) + "}\n"));
      }
    }
    return examples.toString();
  }

  /** Compiles without JSpecify, as most consumers do, and with all warnings as errors. */
  private static void compile(String examples, Path folder) throws IOException {
    Path source = folder.resolve("Examples.java");
    Files.writeString(
        source,
        """
        import java.util.*;
        import java.util.concurrent.*;
        import java.util.concurrent.atomic.*;
        import java.util.function.*;
        import org.plantstore.domain.*;
        import org.plantstore.domain.InvalidPlantException.Violation;

        public final class Examples {
          public static void run(BiConsumer<Object, Object> compare) {
        %s
          }
        }
        """
            .formatted(VALUE.matcher(examples).replaceAll("$1compare.accept($2, $3);")));
    PublicApiTest.run(
        "javac",
        "--release=17",
        "-Xlint:all",
        "-Werror",
        "--class-path=target/classes",
        source.toString());
  }
}
