package org.plantstore.adapter.http.error;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The documents and the enum tell the same errors. */
class ErrorNumberTest {

  private static final Path README = Path.of("..", "README.md");

  @Test
  void readme_lists_every_error_and_no_other() throws IOException {
    List<String> documented =
        Files.readAllLines(README).stream()
            .filter(line -> line.matches("\\| \\d{4} \\|.*"))
            .toList();

    assertEquals(
        Arrays.stream(ErrorNumber.values())
            .map(error ->
                "| %d | %d | %s |"
                    .formatted(error.number(), error.status().getCode(), error.description()))
            .toList(),
        documented);
  }

  @Test
  void numbers_are_in_order_so_none_is_given_twice() {
    List<Integer> numbers = Arrays.stream(ErrorNumber.values()).map(ErrorNumber::number).toList();
    assertEquals(numbers.stream().sorted().distinct().toList(), numbers);
  }
}
