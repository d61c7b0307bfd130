package org.plantstore.adapter.persistence.start;

import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.DatabaseTimeouts;
import org.plantstore.adapter.persistence.database.DatabaseTraffic;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that a migration takes long, and ends it when the database has fallen silent. Its own
 * statements do not show that, because they may take as long as they need; so the database is asked
 * on another connection. Safe for use by many threads.
 */
@Singleton
final class MigrationWatch {

  private static final Logger LOG = LoggerFactory.getLogger(MigrationWatch.class);
  private static final Duration PERIOD = Duration.ofSeconds(5);

  private final ServerCheck server;
  private final Duration patience;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable PostgresFailure silence;

  MigrationWatch(Environment environment, DatabaseTimeouts timeouts) {
    this.server = new ServerCheck(DatabaseAccess.of(environment));
    this.patience = timeouts.migration();
  }

  /** Takes a connection on which the migration waits for answers. */
  void add(Connection connection) {
    connections.add(connection);
  }

  /**
   * Runs the migration.
   *
   * @throws ConfigurationException if the database falls silent
   */
  <T> T watch(Supplier<T> migration) {
    Thread thread = new Thread(this::askServer, "migration-watch");
    thread.setDaemon(true);
    thread.start();
    try {
      return migration.get();
    } catch (RuntimeException e) {
      PostgresFailure reason = silence;
      throw reason == null
          ? e
          : new ConfigurationException(
              "the database has not answered a migration for %d s: %s"
                  .formatted(patience.toSeconds(), reason.describe()));
    } finally {
      ended.countDown();
    }
  }

  private void askServer() {
    long began = System.nanoTime();
    long answered = began;
    try {
      while (!ended.await(PERIOD.toMillis(), TimeUnit.MILLISECONDS)) {
        PostgresFailure failure = server.silence();
        long now = System.nanoTime();
        LOG.warn(
            "The tables of the database are being brought up to date since {} s; {}",
            TimeUnit.NANOSECONDS.toSeconds(now - began),
            failure == null
                ? "the database answers"
                : "the database does not answer: " + failure.describe());
        if (failure == null) {
          answered = now;
        } else if (now - answered >= patience.toNanos()) {
          silence = failure;
          connections.forEach(DatabaseTraffic::abort);
          return;
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody has the thread to interrupt it", e);
    }
  }
}
