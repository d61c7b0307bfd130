package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micronaut.context.ApplicationContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions of the store, and the accounts and addresses with which they are opened. */
class SessionTest implements WithEmptyDatabase {

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"off, on", "local, on", "remote_write, on", "remote_apply, remote_apply"})
  void commits_are_durable_where_the_database_does_not_ask_for_it(String set, String used)
      throws SQLException {
    SERVER.execute("ALTER ROLE postgres SET synchronous_commit = " + set);

    assertEquals(used, single(connections(Map.of()), "SHOW synchronous_commit"));
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
    DatabaseConnections source = connections(Map.of());

    assertEquals("4s", single(source, "SHOW statement_timeout"));
    assertEquals("1s", single(source, "SHOW lock_timeout"));
    assertEquals(
        "0",
        single(
            source, "SELECT string_agg(DISTINCT setting, ' ') FROM pg_settings WHERE " + timeouts));
  }

  /** Many servers lock an account after several attempts with a wrong password. */
  @Test
  void refused_account_is_not_tried_again_at_once() {
    SERVER.execute("CREATE ROLE gardener");
    DatabaseConnections source = connections(Map.of("database.username", "gardener"));
    SQLException refusal = assertThrows(SQLException.class, source::getConnection);

    SQLException second = assertThrows(SQLException.class, source::getConnection);
    assertSame(refusal, second.getCause());
    assertEquals(refusal.getSQLState(), second.getSQLState());
  }

  /** As Vault changes them: both files, one after the other, while connections are opened. */
  @Test
  void account_that_changes_is_used_at_once_even_after_a_refusal() throws Exception {
    SERVER.execute("CREATE ROLE gardener LOGIN PASSWORD 'old'", "DROP ROLE IF EXISTS gardener2");
    Path accounts = Path.of(SERVER.single("SHOW hba_file"));
    String trusting = Files.readString(accounts);
    Files.writeString(accounts, "host all gardener,gardener2 all scram-sha-256\n" + trusting);
    SERVER.execute("SELECT pg_reload_conf()");
    try {
      Path name = Files.writeString(folder.resolve("name"), "gardener");
      Path password = Files.writeString(folder.resolve("password"), "old\n");
      DatabaseConnections source =
          connections(
              Map.of(
                  "database.username",
                  "",
                  "database.username.file",
                  name.toString(),
                  "database.password",
                  "",
                  "database.password.file",
                  password.toString()));
      source.getConnection().close();

      SERVER.execute("CREATE ROLE gardener2 LOGIN PASSWORD 'new'", "ALTER ROLE gardener NOLOGIN");
      Files.writeString(name, "gardener2");
      assertThrows(SQLException.class, source::getConnection, "the password is still old");
      Files.writeString(password, "new");
      assertEquals("gardener2", single(source, "SELECT current_user"));

      Files.delete(password);
      assertEquals("28000", assertThrows(SQLException.class, source::getConnection).getSQLState());
    } finally {
      Files.writeString(accounts, trusting);
      SERVER.execute("SELECT pg_reload_conf()", "DROP ROLE IF EXISTS gardener2");
    }
  }

  private static String single(DatabaseConnections source, String query) throws SQLException {
    try (Connection connection = source.getConnection();
        ResultSet row = connection.createStatement().executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }

  private static DatabaseConnections connections(Map<String, Object> replacements) {
    Map<String, Object> settings = new HashMap<>(SERVER.settings(replacements));
    try (ApplicationContext context = ApplicationContext.builder().properties(settings).build()) {
      return ConnectionPool.connections(new DatabaseSettings(context.getEnvironment().start()));
    }
  }
}
