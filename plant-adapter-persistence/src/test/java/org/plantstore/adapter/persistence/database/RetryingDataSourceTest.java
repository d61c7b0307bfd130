package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.WithEmptyDatabase;

class RetryingDataSourceTest implements WithEmptyDatabase {

  @ParameterizedTest
  @CsvSource({"off, on", "local, on", "remote_write, on", "remote_apply, remote_apply"})
  void commits_are_durable_where_the_database_does_not_ask_for_it(String set, String used)
      throws SQLException {
    SERVER.execute("ALTER ROLE postgres SET synchronous_commit = " + set);

    assertEquals(used, single(sourceFor("postgres"), "SHOW synchronous_commit"));
  }

  /** They would end sessions that wait or are idle. */
  @Test
  void time_outs_of_the_account_have_no_effect() throws SQLException {
    String timeouts =
        "name IN ('transaction_timeout', 'idle_in_transaction_session_timeout',"
            + " 'idle_session_timeout')";
    SERVER.execute(
        "ALTER ROLE postgres SET lock_timeout = '100ms'",
        "ALTER ROLE postgres SET statement_timeout = '100ms'",
        "DO $$ DECLARE timeout text; BEGIN FOR timeout IN SELECT name FROM pg_settings WHERE "
            + timeouts
            + " LOOP EXECUTE format('ALTER ROLE postgres SET %I = 300', timeout); END LOOP; END $$");
    RetryingDataSource source = sourceFor("postgres");

    assertEquals("800ms", single(source, "SHOW statement_timeout"));
    assertEquals("200ms", single(source, "SHOW lock_timeout"));
    assertEquals(
        "0",
        single(
            source, "SELECT string_agg(DISTINCT setting, ' ') FROM pg_settings WHERE " + timeouts));
  }

  /** Many servers lock an account after several attempts with a wrong password. */
  @Test
  void refused_account_is_not_retried_at_once() {
    SERVER.execute("CREATE ROLE gardener");
    RetryingDataSource source = sourceFor("gardener");
    SQLException refusal = assertThrows(SQLException.class, source::attempt);

    SQLException second = assertThrows(SQLException.class, source::attempt);
    assertSame(refusal, second.getCause());
    assertEquals(refusal.getMessage(), second.getMessage());
    assertEquals(refusal.getSQLState(), second.getSQLState());
  }

  /** An error message, each byte of which comes within the time-out of an answer. */
  @Test
  @Timeout(10)
  void login_at_a_server_that_answers_byte_by_byte_ends_in_time() throws IOException {
    try (ServerSocket server = new ServerSocket(0)) {
      new Thread(
              new FutureTask<>(() -> {
                try (Socket client = server.accept()) {
                  client.getOutputStream().write(new byte[] {'E', 0, 0, 0, 44});
                  while (!server.isClosed()) {
                    Thread.sleep(500);
                    client.getOutputStream().write('x');
                  }
                  return null;
                }
              }))
          .start();
      String url =
          "jdbc:postgresql://localhost:" + server.getLocalPort() + "/plants?sslmode=disable";

      assertThrows(SQLException.class, source(url, "postgres")::attempt);
    }
  }

  private static RetryingDataSource sourceFor(String username) {
    return source(SERVER.url("postgres"), username);
  }

  private static RetryingDataSource source(String url, String username) {
    return new RetryingDataSource(
        new DatabaseAccess(url, username, new Password("any")),
        new DatabaseTimeouts(Duration.ofSeconds(1)));
  }

  private static String single(RetryingDataSource source, String query) throws SQLException {
    try (Connection connection = source.attempt();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }
}
