package org.plantstore.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The largest bodies, as many at once as creates are let in, in a service with a small heap. */
@Tag("slow")
class SmallHeapTest {

  /** Those of the start script, but for the size of the heap. */
  private static final String OPTIONS =
      "-Xmx128m -XX:+UseParallelGC -XX:NewRatio=1 -XX:+ExitOnOutOfMemoryError";

  private static final int CONNECTIONS = 1_024;

  /** Nearly as many as connections are let in. */
  private static final int STRANGERS = 16_000;

  /** Instead of a status: the service does not wait for ever. */
  private static final int CLOSED = 0;

  private static final String FERN = "{\"id\":-1,\"name\":\"fern\"}";

  private static EmbeddedPostgres database;
  private static ServiceProcess service;

  private final ExecutorService clients = Executors.newFixedThreadPool(CONNECTIONS);
  private final String token = ServiceProcess.token();

  @BeforeAll
  static void start() throws IOException {
    database = EmbeddedDatabase.start();
    Map<String, String> environment = EmbeddedDatabase.environment(database);
    environment.put("JDK_JAVA_OPTIONS", OPTIONS);
    service = new ServiceProcess(environment).awaitReady();
  }

  @AfterAll
  static void stop() throws IOException {
    service.close();
    database.close();
  }

  @AfterEach
  void stopClients() {
    clients.shutdownNow();
  }

  @Test
  void largest_bodies_on_many_connections_are_answered() throws Exception {
    Map<Integer, Integer> answers = onEveryConnection(this::largeCreate);

    assertTrue(answers.containsKey(200), answers.toString());
    assertTrue(Set.of(200, 503).containsAll(answers.keySet()), answers.toString());
    assertWell();
  }

  @Test
  void bodies_that_lack_their_last_byte_are_in_nobodys_way() throws Exception {
    CountDownLatch allSent = new CountDownLatch(CONNECTIONS);
    CountDownLatch othersServed = new CountDownLatch(1);
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      Future<Integer> small =
          other.submit(() -> {
            assertTrue(allSent.await(120, TimeUnit.SECONDS), "all have sent");
            int status = service.create(FERN).statusCode();
            othersServed.countDown();
            return status;
          });
      Map<Integer, Integer> answers =
          onEveryConnection(id -> {
            try (LargeCreate create = new LargeCreate(service.address(), token, id)) {
              create.sendAllButTheLastByte();
              allSent.countDown();
              assertTrue(othersServed.await(120, TimeUnit.SECONDS), "others were served");
              create.sendTheLastByte();
              return create.status();
            } catch (IOException e) {
              return CLOSED;
            }
          });

      assertEquals(200, small.get());
      assertTrue(Set.of(200, 503, CLOSED).containsAll(answers.keySet()), answers.toString());
      assertWell();
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void clients_that_do_not_wait_for_the_answer_leave_nothing_behind() throws Exception {
    onEveryConnection(id -> {
      try (LargeCreate create = new LargeCreate(service.address(), token, id)) {
        create.sendAllButTheLastByte();
        create.sendTheLastByte();
      }
      return 0;
    });

    assertWell();
  }

  /** Nobody needs a token for that. */
  @ParameterizedTest
  @ValueSource(strings = {"line", "head", "chunk", "request"})
  void requests_without_end_are_in_nobodys_way(String kind) throws Exception {
    String head = "POST /plants HTTP/1.1\r\nHost: x\r\n";
    String begin =
        switch (kind) {
          case "line" -> "GET /" + "x".repeat(12_000);
          case "head" -> head + ("X-Long: " + "x".repeat(120) + "\r\n").repeat(95);
          case "chunk" -> head + "Transfer-Encoding: chunked\r\n\r\n1;" + "x".repeat(12_000);
          default -> head + "Content-Length: 1\r\n\r\n";
        };
    List<Socket> strangers = new ArrayList<>();
    try {
      for (int stranger = 0; stranger < STRANGERS; stranger++) {
        Socket socket = new Socket("localhost", service.address().getPort());
        strangers.add(socket);
        socket.getOutputStream().write(begin.getBytes(US_ASCII));
      }

      assertWell();
    } finally {
      for (Socket stranger : strangers) {
        stranger.close();
      }
    }
  }

  private interface Client {
    int status(int id) throws Exception;
  }

  private Map<Integer, Integer> onEveryConnection(Client client) throws Exception {
    List<Future<Integer>> pending = new ArrayList<>();
    IntStream.range(0, CONNECTIONS)
        .forEach(id -> pending.add(clients.submit(() -> client.status(id))));
    Map<Integer, Integer> answersByStatus = new TreeMap<>();
    for (Future<Integer> answer : pending) {
      answersByStatus.merge(answer.get(120, TimeUnit.SECONDS), 1, Integer::sum);
    }
    return answersByStatus;
  }

  private int largeCreate(int id) throws IOException {
    try (LargeCreate create = new LargeCreate(service.address(), token, id)) {
      create.sendAllButTheLastByte();
      create.sendTheLastByte();
      return create.status();
    }
  }

  private void assertWell() throws IOException {
    assertEquals(200, service.create(FERN).statusCode());
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    int status = largeCreate(CONNECTIONS);
    while (status == 503 && System.nanoTime() < deadline) {
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      status = largeCreate(CONNECTIONS);
    }
    assertEquals(200, status);
    String log = service.output() + service.errors();
    assertFalse(log.contains("MemoryError:"), log);
    assertFalse(log.contains("ERROR"), log);
  }
}
