package org.plantstore.adapter.persistence.database;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RunningStatementsTest {

  /** With TLS, closing waits for a statement that is being sent to a server that does not read. */
  @Test
  void abort_does_not_wait_until_the_connection_is_closed() throws Exception {
    CompletableFuture<Void> returned = new CompletableFuture<>();
    CompletableFuture<Void> closed = new CompletableFuture<>();

    RunningStatements.abort(
        (Connection)
            Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
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
}
