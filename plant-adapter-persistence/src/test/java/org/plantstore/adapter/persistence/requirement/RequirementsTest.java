package org.plantstore.adapter.persistence.requirement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.adapter.persistence.Calls;
import org.plantstore.adapter.persistence.WithEmptyDatabase;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.Password;

/** Which settings and databases a start refuses, and with which advice. */
@Tag("newest")
class RequirementsTest implements WithEmptyDatabase {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          migrate     | yes                                                    | DATABASE_MIGRATE must be on or off, but is "yes"
          connections | 1                                                      | DATABASE_CONNECTIONS must be a whole number from 5 to 10000, but is "1"
          url         | jdbc:mysql://localhost/plants                          | DATABASE_URL must be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants
          url         | jdbc:postgresql://plants:canary@localhost:5432/plants  | DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          url         | jdbc:postgresql://plants:canary@localhost/plants\\n     | DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          url         | jdbc:postgresql://localhost:99999/p?password=canary    | DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD; it also must be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants
          url | postgres://plants:can?ary@localhost/p?ssl_mode=allow | DATABASE_URL must be such as postgres://user:password@host:5432/name; in the password, @ is %40, / is %2F, ? is %3F and % is %25
          url | postgresql://plants:can%ary@localhost/p | DATABASE_URL must be such as postgres://user:password@host:5432/name; in the password, @ is %40, / is %2F, ? is %3F and % is %25
          url | postgresql://plants:can%ff@localhost/p | DATABASE_URL must be such as postgres://user:password@host:5432/name; in the password, @ is %40, / is %2F, ? is %3F and % is %25
          url | postgres://plants:can@ary@localhost/p | DATABASE_URL must be such as postgres://user:password@host:5432/name; in the password, @ is %40, / is %2F, ? is %3F and % is %25
          url | postgres://localhost/p?sslmode=on&connectTimeout=9 | DATABASE_URL must not set time-outs; they follow from DATABASE_TIMEOUT_SECONDS; it also must set sslmode to disable or allow or prefer or require or verify-ca or verify-full, but sets "on"
          password-file | /any | one of DATABASE_PASSWORD and DATABASE_PASSWORD_FILE must be set, but both are
          url | jdbc:postgresql://localhost/p?USER=plants&loginTimeout=1&readOnly=maybe | DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD; it also must not set time-outs; they follow from DATABASE_TIMEOUT_SECONDS; it also must set readOnly to true or false, but sets "maybe"
          url | jdbc:postgresql://localhost/p?pwd=canary&canary2 | DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD; it also must not set an unknown parameter, which the driver ignores
          url | jdbc:postgresql://localhost/p?sslRootCert= | DATABASE_URL must not set "sslRootCert", which the driver ignores; the nearest name is sslrootcert
          url | jdbc:postgresql://localhost/p?searchPath=plants | DATABASE_URL must not set "searchPath", which the driver ignores; the nearest name is currentSchema
          url | jdbc:postgresql://localhost/p?target_session_attrs=any | DATABASE_URL must not set "target_session_attrs", which the driver ignores; the nearest name is targetServerType
          url | jdbc:postgresql://localhost/p?sslmode | DATABASE_URL must set sslmode to disable or allow or prefer or require or verify-ca or verify-full, but sets ""
          url | jdbc:postgresql://one,two/p?targetServerType=Primary%20 | DATABASE_URL must set targetServerType to any or primary or master or slave or secondary or preferSlave or preferSecondary or preferPrimary, but sets "Primary "
          url | jdbc:postgresql://localhost/p?ssl=1 | DATABASE_URL must set ssl to true or false, but sets "1"
          url | jdbc:postgresql://localhost/p?sslNegotiation=Direct | DATABASE_URL must set sslNegotiation to postgres or direct, but sets "Direct"
          url | jdbc:postgresql://localhost/p?sslkey=/missing/client.key | DATABASE_URL must set sslkey to a file that can be read, but sets "/missing/client.key"
          url | jdbc:postgresql://localhost/p?sslmode=verify-full&sslmode=disable | DATABASE_URL must set sslmode only once
          url | jdbc:postgresql://localhost/p?currentSchema=a?sslmode=require | DATABASE_URL must have one question mark, and an ampersand between its parameters
          url | jdbc:postgresql://localhost/p?host=elsewhere | DATABASE_URL must set host, port and database before the question mark only
          url | jdbc:postgresql://one:1,[::1]:2/my@db?PGPORT=1&&x | DATABASE_URL must set host, port and database before the question mark only; it also must not set an unknown parameter, which the driver ignores
          url | jdbc:postgresql://plants:can/ary@localhost/p | DATABASE_URL must not contain an account; set DATABASE_USERNAME and DATABASE_PASSWORD
          url | jdbc:postgresql://localhost/p?options=%2 | DATABASE_URL must be a JDBC address of PostgreSQL, such as jdbc:postgresql://localhost:5432/plants
          """)
  void start_with_an_unusable_setting_is_refused(String property, String value, String reason) {
    assertEquals(reason, SERVER.refusal(Map.of("database." + property, value.translateEscapes())));
  }

  /** The statements that make the state, the account, whether the start migrates, the reason. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          CREATE ROLE gardener LOGIN; ALTER ROLE gardener SET search_path = later | gardener | on |\
            gardener must be allowed to create the tables, and to change them; if another account \
          does that with plant-store migrate, set DATABASE_MIGRATE to off
          CREATE TABLE flyway_schema_history (); CREATE ROLE gardener LOGIN;\
           GRANT CREATE ON SCHEMA public TO gardener | gardener | on |\
            gardener must be allowed to create the tables, and to change them; if another account \
          does that with plant-store migrate, set DATABASE_MIGRATE to off
          CREATE TABLE plant (id bigint PRIMARY KEY, name text, tag text);\
           CREATE ROLE gardener LOGIN | gardener | off |\
            gardener must be allowed to insert into and to select from the table plant
          SELECT 'an empty database' | postgres | off |\
            there is no table plant for postgres; run plant-store migrate, and accounts.sql after it
          CREATE TABLE plant (id bigint PRIMARY KEY, name text, tag text) | postgres | on |\
            the table plant has no history; set DATABASE_MIGRATE to off to use it
          """)
  void start_on_an_unusable_database_is_refused(
      String state, String username, String migrate, String reason) {
    SERVER.execute(state);

    assertEquals(
        reason, SERVER.refusal(Map.of("database.username", username, "database.migrate", migrate)));
  }

  @Test
  void start_with_an_encoding_that_cannot_keep_every_name_is_refused() {
    SERVER.execute(
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");

    assertEquals(
        "the database must have the encoding UTF8 to keep every name, but has LATIN1",
        SERVER.refusal(Map.of("database.url", SERVER.url("latin"))));
  }

  @Test
  void start_on_a_server_that_is_too_old_is_refused() {
    assertEquals(
        "the database must be PostgreSQL 14 or later, but is 13",
        assertThrows(ConfigurationException.class, () -> state(13).requireVersion()).getMessage());
    assertEquals("PostgreSQL 14", state(14).requireVersion());
  }

  private static DatabaseState state(int version) {
    DatabaseAccess access = new DatabaseAccess("", "", new Password(""));
    return new DatabaseState(access, version, "UTF8", false, false, true, true, "", true);
  }

  @Test
  void migrations_may_take_longer_than_a_create() throws Exception {
    SERVER.migrate(); // makes the history that a start reads
    Map<String, Object> settings =
        Map.of("database.timeout.seconds", 1, "database.start.timeout.seconds", 60);
    try (Connection locker = SERVER.connection()) {
      locker.setAutoCommit(false);
      locker.createStatement().execute("LOCK TABLE flyway_schema_history");
      SERVER.execute("ALTER ROLE postgres SET lock_timeout = '100ms'"); // longer in a migration
      var starting = CompletableFuture.runAsync(() -> SERVER.assertServes(settings));
      String waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      Calls.await(() -> starting.isDone() || !SERVER.single(waiting).equals("0"));
      locker.createStatement().execute("SELECT pg_sleep(1.5)");
      assertFalse(starting.isDone(), "the migration waits");
      locker.rollback();

      starting.get();
    }
  }
}
