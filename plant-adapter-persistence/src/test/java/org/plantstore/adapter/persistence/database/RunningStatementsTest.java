package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class RunningStatementsTest {

  private final RunningStatements statements = new RunningStatements();
  private final CountDownLatch cut = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  @Test
  @Timeout(60)
  void who_cuts_connections_does_not_wait_until_they_are_closed() throws Exception {
    statements.execute(
        connectionThatClosesSlowly(),
        () -> {
          statements.abortBegunBefore(System.nanoTime(), Duration.ZERO);
          return true;
        });

    closed.countDown();
    assertTrue(cut.await(30, TimeUnit.SECONDS), "is cut");
  }

  /** As one with TLS on which a statement is being sent to a server that does not read. */
  private Connection connectionThatClosesSlowly() {
    FutureTask<Void> close =
        new FutureTask<>(() -> {
          closed.await();
          cut.countDown();
          return null;
        });
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("abort")) {
                ((Executor) arguments[0]).execute(close);
                return null;
              }
              return method.invoke(this, arguments);
            });
  }
}
