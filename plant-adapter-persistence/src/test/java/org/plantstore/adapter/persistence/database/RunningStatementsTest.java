package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.plantstore.adapter.persistence.Calls;

@Timeout(60)
class RunningStatementsTest {

  private static final String SLEEPING =
      "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT 2 %'";

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
                  Calls.await(() -> SERVER.single(SLEEPING).equals("1"));
                  statements.cancelOlderThan(Duration.ZERO);
                }
                return result;
              }));

      assertTrue(execution.get().next());
    }
  }

  /** With TLS, closing waits for a statement that is being sent to a server that does not read. */
  @Test
  void abort_does_not_wait_until_the_connection_is_closed() throws Exception {
    CompletableFuture<Void> returned = new CompletableFuture<>();
    CompletableFuture<Void> closed = new CompletableFuture<>();

    RunningStatements.abort(
        proxy(
            Connection.class,
            (proxy, method, arguments) -> {
              ((Executor) arguments[0])
                  .execute(() -> {
                    returned.join();
                    closed.complete(null);
                  });
              return null;
            }));

    returned.complete(null);
    closed.get();
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
