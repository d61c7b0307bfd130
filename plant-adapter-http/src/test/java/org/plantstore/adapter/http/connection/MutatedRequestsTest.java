package org.plantstore.adapter.http.connection;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.http.ServerTest;

/**
 * Requests that differ from a valid one in a few random places: each gets a defined answer or none,
 * and the service goes on. The system property {@code seed} repeats a run.
 */
@Timeout(120)
class MutatedRequestsTest extends ServerTest {

  private static final int REQUESTS = 2_000;
  private static final Set<Integer> DEFINED = Set.of(100, 200, 400, 401, 404, 405);
  private static final List<String> PIECES =
      List.of(
          ("\r\n|\r|\n| |\t|:|;|,|\u0000|\u00FF|0\r\n\r\n|/|%|Content-Length: 3\r\n|HTTP/1.0|"
                  + "Host: y\r\n|Transfer-Encoding: chunked\r\n|Expect: 100-continue\r\n|"
                  + "Connection: close\r\n|\"|{|}|\\u0000|-|9")
              .split("\\|"));

  private final long seed = Long.getLong("seed", new Random().nextLong());
  private final Random random = new Random(seed);

  @Test
  void every_mutated_request_has_a_defined_answer_or_none() {
    String valid = createRequest("");
    String chunked = chunkedRequest("", "0\r\n\r\n");

    for (int number = 0; number < REQUESTS; number++) {
      String mutated = mutate(random.nextBoolean() ? valid : chunked);
      String requests = mutated + (random.nextBoolean() ? valid : "");
      Supplier<String> run = () -> "seed " + seed + ":\n" + requests;

      String answers = assertDoesNotThrow(() -> answersTo(requests), run);
      assertTrue(DEFINED.containsAll(statuses(answers)), () -> run.get() + "\n\n" + answers);
    }
    assertEquals(200, post(FERN).status());
  }

  private String mutate(String request) {
    StringBuilder mutated = new StringBuilder(request);
    for (int places = 1 + random.nextInt(3); places > 0; places--) {
      int at = random.nextInt(mutated.length());
      int end = Math.min(mutated.length(), at + random.nextInt(8));
      switch (random.nextInt(4)) {
        case 0 -> mutated.delete(at, end);
        case 1 -> mutated.insert(at, PIECES.get(random.nextInt(PIECES.size())));
        case 2 -> mutated.setCharAt(at, (char) random.nextInt(256));
        default -> mutated.insert(at, mutated.substring(at, end));
      }
    }
    return mutated.toString();
  }

  /** Closes its own side, because a mutated request may be incomplete. */
  private String answersTo(String requests) throws IOException {
    ByteArrayOutputStream answers = new ByteArrayOutputStream();
    try (Socket socket = connect()) {
      write(socket, requests);
      socket.shutdownOutput();
      socket.getInputStream().transferTo(answers);
    } catch (SocketException e) {
      // Reset after a broken request.
    }
    return answers.toString(ISO_8859_1);
  }
}
