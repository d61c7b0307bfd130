package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The report on a database for the command {@code check}. */
class DatabaseRequirementsTest {

  private static final DatabaseServer SERVER = DatabaseServer.shared();

  private final StringWriter good = new StringWriter();
  private final StringWriter bad = new StringWriter();

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Test
  void database_that_works_is_described() {
    SERVER.connect().close(); // makes the table

    assertEquals(0, check("postgres", "?sslpassword=canary"));
    assertEquals("", bad.toString());
    assertEquals(
        """
        database\t%s answers
        database\tPostgreSQL N
        database\tencoding UTF8
        database\ta primary
        database\twritable for postgres
        database\tpostgres has the rights that the service needs
        database\tthe table plant has the columns and the index that the service needs
        """
            .formatted(SERVER.url("postgres")),
        good.toString().replaceAll("PostgreSQL \\d+", "PostgreSQL N"));
  }

  @Test
  void account_that_may_only_insert_and_select_has_the_rights_that_are_needed() {
    SERVER.connect().close(); // makes the table
    SERVER.execute(
        "DROP ROLE IF EXISTS florist",
        "CREATE ROLE florist LOGIN",
        "GRANT INSERT, SELECT ON plant TO florist");
    try {
      assertEquals(0, check("florist", "", "--database.migrate=off"), bad::toString);
      assertEquals(
          1,
          good.toString()
              .lines()
              .filter("database\tflorist has the rights that the service needs"::equals)
              .count(),
          good::toString);
    } finally {
      SERVER.execute("DROP OWNED BY florist", "DROP ROLE florist");
    }
  }

  @Test
  void every_fault_is_told_at_once() {
    SERVER.execute(
        "DROP ROLE IF EXISTS gardener",
        "CREATE ROLE gardener LOGIN",
        "ALTER ROLE gardener SET default_transaction_read_only = on",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    try {
      assertEquals(1, check("gardener", ""));
      assertEquals(
          """
          database\tthe database must be writable for gardener, but is read-only
          database\tgardener must be allowed to create the tables, and to change them; if another \
          account does that with plant-store migrate, set DATABASE_MIGRATE to off
          """,
          bad.toString());
    } finally {
      SERVER.execute("DROP ROLE gardener");
    }
  }

  private int check(String username, String parameters, String... settings) {
    Stream<String> all =
        Stream.concat(
            Stream.of(
                "--database.url=" + SERVER.url("postgres") + parameters,
                "--database.username=" + username,
                "--database.password=any"),
            Stream.of(settings));
    return new DatabaseRequirements()
        .run(new PrintWriter(good, true), new PrintWriter(bad, true), all.toArray(String[]::new));
  }
}
