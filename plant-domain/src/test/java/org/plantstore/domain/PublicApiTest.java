package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PublicApiTest {

  private static final Path DECIDED = Path.of("public-api.txt");

  @Test
  void public_api_is_the_one_that_was_decided() throws IOException {
    List<String> lines = PublicApi.lines();
    if (Boolean.getBoolean("public-api.accept")) {
      Files.write(DECIDED, lines);
    }
    List<String> decided = Files.readAllLines(DECIDED);
    List<String> changes = new ArrayList<>();
    decided.stream()
        .filter(line -> !lines.contains(line))
        .forEach(line -> changes.add("- " + line));
    lines.stream()
        .filter(line -> !decided.contains(line))
        .forEach(line -> changes.add("+ " + line));

    assertTrue(
        changes.isEmpty(),
        () ->
            """
            The public API has changed:
            %s
            If that is meant, say so in CHANGELOG.md, and accept it with
            mvn -pl plant-domain test -Dtest=PublicApiTest -Dpublic-api.accept
            """
                .formatted(String.join("\n", changes)));
  }
}
