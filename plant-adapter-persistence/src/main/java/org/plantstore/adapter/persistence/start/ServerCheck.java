package org.plantstore.adapter.persistence.start;

import io.micronaut.context.exceptions.ConfigurationException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that the server can keep the store's rules, and that the account has the rights that the
 * store needs, so that a start fails with a reason in an operator's words. Waits for a server that
 * does not answer yet.
 */
public record ServerCheck(DatabaseAccess access, boolean migrates) {

  private static final Logger LOG = LoggerFactory.getLogger(ServerCheck.class);
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final Duration LOG_PERIOD = Duration.ofSeconds(5);

  /**
   * A wrong account or password, a missing database, and a server that does not speak as {@code
   * sslmode} or the driver demands: waiting mends none.
   */
  private static final Set<String> LASTING_STATES =
      Set.of(PostgresFailure.ACCOUNT_REFUSED, "3D", "08004");

  /**
   * Checks the server, and retries while it does not answer.
   *
   * @param patience how long to wait for an answer; zero for a single attempt
   * @throws ConfigurationException if the server does not answer in time, or cannot be used
   */
  public void run(Duration patience) {
    long began = System.nanoTime();
    long logged = began - LOG_PERIOD.toNanos();
    while (true) {
      try {
        ask();
        return;
      } catch (SQLException e) {
        PostgresFailure failure = new PostgresFailure(e);
        Duration waited = Duration.ofNanos(System.nanoTime() - began);
        boolean isWorthWaiting = isWorthWaiting(failure);
        if (!isWorthWaiting || waited.compareTo(patience) >= 0) {
          throw new ConfigurationException(
              "the database cannot be used"
                  + (isWorthWaiting && !patience.isZero()
                      ? ", not even after " + patience.toSeconds() + " s"
                      : "")
                  + "; "
                  + advice(failure));
        }
        if (System.nanoTime() - logged >= LOG_PERIOD.toNanos()) {
          logged = System.nanoTime();
          LOG.warn(
              "The database is not there; waiting for it since {} s, for {} s at most: {}",
              waited.toSeconds(),
              patience.toSeconds(),
              failure.describe());
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private static boolean isWorthWaiting(PostgresFailure failure) {
    return failure.isTransient()
        && !failure.isCertificateFailure()
        && LASTING_STATES.stream().noneMatch(failure::hasState);
  }

  /** Returns what to check after a failure to connect, and the failure. */
  public static String advice(PostgresFailure failure) {
    return (failure.isCertificateFailure()
            ? "check its certificate, and sslrootcert and the host in DATABASE_URL: "
            : "check DATABASE_URL, DATABASE_USERNAME, DATABASE_PASSWORD and the server: ")
        + failure.describe();
  }

  private void ask() throws SQLException {
    Server server = Server.ask(access);
    if (server.isStandby()) {
      // It may be promoted, or the address lead to another one.
      throw new SQLException("the database is a standby", PostgresFailure.READ_ONLY);
    }
    ServerRules.judge(server, migrates).stream()
        .filter(finding -> !finding.isGood())
        .findFirst()
        .ifPresent(finding -> {
          throw new ConfigurationException(finding.text());
        });
  }
}
