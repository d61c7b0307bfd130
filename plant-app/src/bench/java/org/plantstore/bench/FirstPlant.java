package org.plantstore.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Tries to create a plant until a service that is starting does it. On a plain socket, because a
 * client that does more would take time from the start that it measures.
 */
final class FirstPlant {

  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private FirstPlant() {}

  /**
   * Returns once a plant was created.
   *
   * @throws BenchmarkException if it is refused, the process ends or it takes too long
   */
  static void await(Process process, int port, String token) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      String status = create(port, token);
      if (status != null && status.startsWith("HTTP/1.1 200 ")) {
        return;
      }
      if (status != null && !status.startsWith("HTTP/1.1 503 ")) {
        throw new BenchmarkException("the first create was answered: " + status);
      }
      if (!process.isAlive()) {
        throw new BenchmarkException("the service ended: " + process.exitValue());
      }
      if (System.nanoTime() - deadline > 0) {
        throw new BenchmarkException("no plant was created within " + LIMIT.toSeconds() + " s");
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /** Answers the first line of the answer, or null if there is none. */
  private static @Nullable String create(int port, String token) {
    String body = "{\"id\":%d,\"name\":\"fern\"}".formatted(ThreadLocalRandom.current().nextLong());
    String request =
        String.join(
            "\r\n",
            "POST /plants HTTP/1.1",
            "Host: localhost",
            "Connection: close",
            "Authorization: Bearer " + token,
            "Content-Type: application/json",
            "Content-Length: " + body.length(),
            "",
            body);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout((int) LIMIT.toMillis());
      socket.getOutputStream().write(request.getBytes(UTF_8));
      return new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII))
          .readLine();
    } catch (IOException e) {
      return null;
    }
  }
}
