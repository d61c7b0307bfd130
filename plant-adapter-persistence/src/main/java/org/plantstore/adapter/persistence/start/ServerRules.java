package org.plantstore.adapter.persistence.start;

import java.util.List;

/** What the store requires of a server and of the account. */
public final class ServerRules {

  private static final int OLDEST_VERSION = 14;

  private ServerRules() {}

  /**
   * Something that the store depends on.
   *
   * @param isGood whether the store can be used with it
   * @param text what was found, or what must change
   */
  public record Finding(boolean isGood, String text) {

    private static Finding good(String text) {
      return new Finding(true, text);
    }

    private static Finding bad(String text) {
      return new Finding(false, text);
    }
  }

  /**
   * Returns a finding for each rule, in the order in which they are to be put right.
   *
   * @param migrates whether the account is to create the table if it is not there
   */
  public static List<Finding> judge(Server server, boolean migrates) {
    String username = server.username();
    return List.of(
        server.majorVersion() >= OLDEST_VERSION
            ? Finding.good("PostgreSQL " + server.majorVersion())
            : Finding.bad(
                "the database must be PostgreSQL %d or later, but is %d"
                    .formatted(OLDEST_VERSION, server.majorVersion())),
        server.encoding().equals("UTF8")
            ? Finding.good("encoding UTF8")
            : Finding.bad(
                "the database must have the encoding UTF8 to keep every name, but has "
                    + server.encoding()),
        server.isStandby()
            ? Finding.bad("the database is a standby; promote it, or name the primary")
            : Finding.good("a primary"),
        server.isReadOnly()
            ? Finding.bad("the database must be writable for " + username + ", but is read-only")
            : Finding.good("writable for " + username),
        rights(server, migrates));
  }

  private static Finding rights(Server server, boolean migrates) {
    String username = server.username();
    if (migrates && !server.mayMigrate()) {
      return Finding.bad(
          username
              + " must be allowed to create the tables, and to change them; if another account does"
              + " that with plant-store migrate, set DATABASE_MIGRATE to off");
    }
    if (!server.hasTable()) {
      return Finding.good(username + (migrates ? " may create the table plant" : " may connect"));
    }
    if (!server.mayUse()) {
      return Finding.bad(
          username + " must be allowed to insert into and to select from the table plant");
    }
    return Finding.good(username + " has the rights that the service needs");
  }
}
