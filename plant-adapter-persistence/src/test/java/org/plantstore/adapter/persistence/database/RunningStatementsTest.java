package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
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
    CountDownLatch underWay = new CountDownLatch(1);
    Thread store =
        new Thread(() -> {
          try {
            statements.execute(
                connectionThatClosesSlowly(),
                () -> {
                  underWay.countDown();
                  awaitClosed();
                  return true;
                });
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
    store.start();
    underWay.await();

    statements.abortBegunBefore(System.nanoTime(), Duration.ZERO);

    assertTrue(cut.await(30, TimeUnit.SECONDS), "is cut");
    closed.countDown();
    store.join();
  }

  /** As one with TLS on which a statement is being sent to a server that does not read. */
  private Connection connectionThatClosesSlowly() {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("abort")) {
                ((Executor) arguments[0])
                    .execute(() -> {
                      cut.countDown();
                      awaitClosed();
                    });
                return null;
              }
              return method.invoke(this, arguments);
            });
  }

  private void awaitClosed() {
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
