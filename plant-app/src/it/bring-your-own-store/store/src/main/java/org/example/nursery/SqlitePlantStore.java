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

/** Keeps plants in a file of SQLite. Safe for use by many threads and by several processes. */
public final class SqlitePlantStore implements PlantStore, AutoCloseable {

  /** Result codes of SQLite for which a retry can help. */
  private static final Set<SQLiteErrorCode> TEMPORARY =
      Set.of(
          SQLiteErrorCode.SQLITE_BUSY,
          SQLiteErrorCode.SQLITE_LOCKED,
          SQLiteErrorCode.SQLITE_NOMEM,
          SQLiteErrorCode.SQLITE_INTERRUPT,
          SQLiteErrorCode.SQLITE_IOERR,
          SQLiteErrorCode.SQLITE_FULL,
          SQLiteErrorCode.SQLITE_CANTOPEN);

  /** The bits of the primary result code in an extended code. */
  private static final int PRIMARY_CODE = 0xFF;

  /** A rule of this store: a longer text would keep the file locked for too long. */
  private static final int MAX_TEXT_CHARACTERS = 1_000_000;

  /** How long a call waits for earlier calls, and for a file that another process has locked. */
  private static final Duration WAIT = Duration.ofSeconds(2);

  private final ReentrantLock turn = new ReentrantLock(true);
  private final Connection connection;

  /** Opens the file that the environment variable {@code PLANTS_FILE} names. */
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
        statement.execute("PRAGMA synchronous = FULL"); // R4: a commit is on disk
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
    awaitTurn();
    try {
      return insert(plant) ? plant : stored(plant.id());
    } catch (SQLException e) {
      throw failure(e);
    } finally {
      turn.unlock();
    }
  }

  /** Refuses the plant in this store's own words; the caller gets 2002 or 2003 with them. */
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

  /** Waits for a bounded time, because the service waits for its store. */
  private void awaitTurn() {
    try {
      if (turn.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new PlantStoreUnavailableException("the file is in use for longer than " + WAIT.toSeconds() + " s");
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
   * Returns the stored plant. If another program has written a row that is not a valid plant, the
   * constructor throws an exception, which the service reports as a fault of this store.
   */
  private NewPlant stored(long id) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT name, tag FROM plant WHERE id = ?")) {
      select.setLong(1, id);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("the plant with id " + id + " was there, and is not any more");
        }
        return new NewPlant(id, row.getString(1), row.getString(2));
      }
    }
  }

  /** Returns an exception whose type tells whether a retry can help, without SQLite's exception (R7). */
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
