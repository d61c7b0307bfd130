package org.example.nursery;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.InvalidPlantException.Violation;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.sqlite.SQLiteErrorCode;

/**
 * Stores plants in a SQLite file. Instances are safe for use by multiple threads, and several
 * processes may use the same file.
 */
public final class SqlitePlantStore implements PlantStore, AutoCloseable {

  /** The SQLite result codes that indicate temporary failures. */
  private static final Set<SQLiteErrorCode> TEMPORARY =
      Set.of(
          SQLiteErrorCode.SQLITE_BUSY,
          SQLiteErrorCode.SQLITE_LOCKED,
          SQLiteErrorCode.SQLITE_NOMEM,
          SQLiteErrorCode.SQLITE_INTERRUPT,
          SQLiteErrorCode.SQLITE_IOERR,
          SQLiteErrorCode.SQLITE_FULL,
          SQLiteErrorCode.SQLITE_CANTOPEN);

  /** A mask that extracts the primary result code from an extended result code. */
  private static final int PRIMARY_CODE = 0xFF;

  /**
   * The maximum length of a name or a tag. Without this limit, writing a very long text would keep
   * the file locked for too long.
   */
  private static final int MAX_TEXT_CHARACTERS = 1_000_000;

  /**
   * The maximum time that a call waits for earlier calls to finish. The same maximum applies to
   * waiting for another process to unlock the file.
   */
  private static final Duration WAIT = Duration.ofSeconds(2);

  private final ReentrantLock lock = new ReentrantLock(true);
  private final Connection connection;

  /** Opens the file whose path is given by the environment variable {@code PLANTS_FILE}. */
  public SqlitePlantStore() {
    this(
        Path.of(
            Optional.ofNullable(System.getenv("PLANTS_FILE"))
                .orElseThrow(
                    () -> new IllegalStateException("PLANTS_FILE must name a file, but is not set"))));
  }

  SqlitePlantStore(Path file) {
    try {
      connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      try (Statement statement = connection.createStatement()) {
        statement.execute("PRAGMA busy_timeout = " + WAIT.toMillis());
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL"); // R4: a commit waits for the disk
        statement.execute(
            "CREATE TABLE IF NOT EXISTS plant"
                + " (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT");
      }
    } catch (SQLException e) {
      throw new IllegalStateException(file + " cannot be opened: " + e.getMessage());
    }
  }

  @Override
  public NewPlant putIfAbsent(NewPlant plant) {
    Objects.requireNonNull(plant, "plant");
    requireShort(plant);
    acquireLock();
    try {
      return insert(plant) ? plant : stored(plant.id());
    } catch (SQLException e) {
      throw failure(e);
    } finally {
      lock.unlock();
    }
  }

  /** Throws an exception if the name, the tag, or both are too long. */
  private static void requireShort(NewPlant plant) {
    List<Violation> violations = new ArrayList<>();
    addIfLong("name", plant.name(), violations);
    addIfLong("tag", plant.tag(), violations);
    if (!violations.isEmpty()) {
      throw new InvalidPlantException(plant, violations);
    }
  }

  private static void addIfLong(String field, String text, List<Violation> violations) {
    if (text != null && text.length() > MAX_TEXT_CHARACTERS) {
      String rule = "must have at most " + MAX_TEXT_CHARACTERS + " characters, but has ";
      violations.add(new Violation(field, rule + text.length()));
    }
  }

  /** Acquires the lock, but waits only a limited time, because a caller is waiting. */
  private void acquireLock() {
    try {
      if (lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PlantStoreUnavailableException("the call was interrupted");
    }
    throw new PlantStoreUnavailableException("the file has been in use for more than " + WAIT.toSeconds() + " s");
  }

  private boolean insert(NewPlant plant) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO plant VALUES (?, ?, ?) ON CONFLICT DO NOTHING")) {
      insert.setLong(1, plant.id());
      insert.setString(2, plant.name());
      insert.setString(3, plant.tag());
      return insert.executeUpdate() == 1;
    }
  }

  /**
   * Returns the stored plant. If another program wrote a row that is not a valid plant, the
   * constructor of {@code NewPlant} throws an exception, which the service reports as an internal
   * error.
   */
  private NewPlant stored(long id) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT name, tag FROM plant WHERE id = ?")) {
      select.setLong(1, id);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("the row with id " + id + " was deleted during the call");
        }
        return new NewPlant(id, row.getString(1), row.getString(2));
      }
    }
  }

  /**
   * Returns an exception whose type indicates whether a retry can help. The exception has no cause,
   * because a store must not expose SQLite exceptions (R7).
   */
  private static RuntimeException failure(SQLException e) {
    SQLiteErrorCode code = SQLiteErrorCode.getErrorCode(e.getErrorCode() & PRIMARY_CODE);
    return TEMPORARY.contains(code)
        ? new PlantStoreUnavailableException(e.getMessage())
        : new IllegalStateException(e.getMessage());
  }

  /** Closes the file. */
  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
