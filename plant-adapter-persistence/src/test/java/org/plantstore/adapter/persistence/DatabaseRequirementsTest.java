package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.persistence.PostgresServer.Report;

/** The report on a database for the command {@code check}. */
class DatabaseRequirementsTest {

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Test
  void database_that_works_is_described() {
    SERVER.migrate();
    String url = SERVER.url("postgres");

    Report report = SERVER.run("check", Map.of("database.url", url + "?sslpassword=canary"));

    assertEquals(
        String.format(
            Locale.ROOT,
            """
            database\t%s answers
            database\tPostgreSQL N
            database\tencoding UTF8
            database\ta primary
            database\twritable for postgres
            database\tpostgres has the rights that the service needs
            database\tthe table plant has the columns and the index that the service needs
            """,
            url),
        report.out().replaceAll("PostgreSQL \\d+", "PostgreSQL N"));
    assertEquals(new Report(0, report.out(), ""), report);
  }

  @Test
  void every_fault_is_told_at_once() {
    SERVER.execute(
        "CREATE ROLE gardener LOGIN", "ALTER ROLE gardener SET default_transaction_read_only = on");

    Report report = SERVER.run("check", Map.of("database.username", "gardener"));

    assertEquals(
        """
        database\tthe database must be writable for gardener, but is read-only
        database\tgardener must be allowed to create the tables, and to change them; if another \
        account does that with plant-store migrate, set DATABASE_MIGRATE to off
        """,
        report.err());
    assertEquals(1, report.code());
  }
}
