package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
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

  private final RunningStatements statements = new RunningStatements();
  private final CountDownLatch cut = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  @Test
  void statement_that_is_cancelled_too_late_leaves_the_next_one_of_its_connection_alone()
      throws Exception {
    try (Connection connection = SERVER.connection();
        PreparedStatement ended = connection.prepareStatement("SELECT 1");
        PreparedStatement next = connection.prepareStatement("SELECT 2 FROM pg_sleep(0.5)")) {
      FutureTask<ResultSet> execution = new FutureTask<>(next::executeQuery);

      statements.execute(
          statement(
              ended,
              () -> {
                ResultSet rows = ended.executeQuery();
                new Thread(execution).start();
                awaitSleep();
                statements.cancelOlderThan(Duration.ZERO);
                return rows;
              }));

      ResultSet rows = execution.get();
      assertTrue(rows.next());
      assertEquals(2, rows.getInt(1));
    }
  }

  private static void awaitSleep() throws SQLException {
    String sleeping =
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT 2 %'";
    while (SERVER.single(sleeping).equals("0")) {
      assertFalse(Thread.interrupted(), "waited in vain");
    }
  }

  @Test
  void who_cuts_connections_does_not_wait_until_they_are_closed() throws Exception {
    try (Connection connection = SERVER.connection();
        PreparedStatement query = connection.prepareStatement("SELECT 1")) {
      statements.execute(
          statement(
              query,
              () -> {
                statements.abortBegunBefore(System.nanoTime(), Duration.ZERO);
                return query.executeQuery();
              }));

      closed.countDown();
      assertTrue(cut.await(30, TimeUnit.SECONDS), "is cut");
    }
  }

  /** Returns a statement with another way to execute it, on a connection that closes slowly. */
  private PreparedStatement statement(PreparedStatement query, Callable<ResultSet> execution) {
    return proxy(
        PreparedStatement.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "executeQuery" -> execution.call();
              case "getConnection" -> connectionThatClosesSlowly();
              default -> method.invoke(query, arguments);
            });
  }

  /** As one with TLS on which a statement is being sent to a server that does not read. */
  private Connection connectionThatClosesSlowly() {
    FutureTask<Void> close =
        new FutureTask<>(() -> {
          closed.await();
          cut.countDown();
          return null;
        });
    return proxy(
        Connection.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals("abort")) {
            ((Executor) arguments[0]).execute(close);
            return null;
          }
          return method.invoke(this, arguments);
        });
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
