package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.DatabaseServer;

@Timeout(60)
class RunningStatementsTest {

  private static final DatabaseServer SERVER = DatabaseServer.shared();

  @Test
  void late_cancel_spares_the_next_statement_of_the_connection() throws Exception {
    RunningStatements statements = new RunningStatements();
    try (Connection connection = SERVER.connection();
        PreparedStatement ended = connection.prepareStatement("SELECT 1");
        PreparedStatement next = connection.prepareStatement("SELECT 2 FROM pg_sleep(0.5)")) {
      FutureTask<ResultSet> execution = new FutureTask<>(next::executeQuery);

      statements.execute(
          proxy(
              PreparedStatement.class,
              (proxy, method, arguments) -> {
                Object result = method.invoke(ended, arguments);
                if (method.getName().equals("executeQuery")) {
                  new Thread(execution).start();
                  awaitSleep();
                  statements.cancelOlderThan(Duration.ZERO);
                }
                return result;
              }));

      assertTrue(execution.get().next());
    }
  }

  private static void awaitSleep() throws SQLException {
    String sleeping =
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT 2 %'";
    while (SERVER.single(sleeping).equals("0")) {
      assertFalse(Thread.interrupted(), "waited in vain");
    }
  }

  /** With TLS, closing waits for a statement that is being sent to a server that does not read. */
  @Test
  void abort_does_not_wait_until_the_connection_is_closed() throws Exception {
    CountDownLatch returned = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    FutureTask<Void> close =
        new FutureTask<>(() -> {
          returned.await();
          closed.countDown();
          return null;
        });

    RunningStatements.abort(
        proxy(
            Connection.class,
            (proxy, method, arguments) -> {
              ((Executor) arguments[0]).execute(close);
              return null;
            }));

    returned.countDown();
    assertTrue(closed.await(30, TimeUnit.SECONDS), "is closed");
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
