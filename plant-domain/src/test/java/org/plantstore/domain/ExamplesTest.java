package org.plantstore.domain;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.regex.Pattern.DOTALL;
import static java.util.regex.Pattern.MULTILINE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the examples in the Javadoc and the README, and compares each expression with the value in
 * the comment that follows it.
 */
@Tag("newest")
class ExamplesTest {

  private static final Pattern MARGIN = Pattern.compile("^ *\\* ?", MULTILINE);
  private static final Pattern EXAMPLE =
      Pattern.compile("(?:<pre>\\{@code|^```java)\n(.*?)^(?:}</pre>|```)", DOTALL | MULTILINE);
  private static final Pattern VALUE = Pattern.compile("^ *(\\S.*); // (.+)$", MULTILINE);

  /** Runs the examples without JSpecify on the class path, as most applications do. */
  @Test
  void examples_evaluate_to_the_values_in_their_comments(@TempDir Path folder) throws Exception {
    String examples = examples();
    Path program = folder.resolve("Examples.java");
    Files.writeString(program, program(examples));
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process run =
        new ProcessBuilder(java, "-cp", "target/classes", program.toString())
            .redirectErrorStream(true)
            .start();

    long values = VALUE.matcher(examples).results().count();
    assertNotEquals(0, values);
    String output = new String(run.getInputStream().readAllBytes(), UTF_8);
    assertEquals("as expected\n".repeat((int) values), output.replace("\r", ""));
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

  private static String program(String examples) {
    return """
    import java.util.*;
    import java.util.concurrent.*;
    import java.util.concurrent.atomic.*;
    import org.plantstore.domain.*;
    import org.plantstore.domain.InvalidPlantException.Violation;

    class Examples {
      public static void main(String... none) {
        %s
      }

      static void print(Object value, Object expected) {
        System.out.println(Objects.equals(value, expected) ? "as expected" : value);
      }
    }
    """
        .formatted(VALUE.matcher(examples).replaceAll("print($1, $2);"));
  }
}
