package org.example.nursery;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

class SqlitePlantStoreTest extends PlantStoreContract {

  @TempDir Path folder;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private PlantStore store;

  @BeforeEach
  void open() {
    store = open("plants");
  }

  /** Closes everything in reverse order, before JUnit deletes the folder. */
  @AfterEach
  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  @Override
  protected PlantStore store() {
    return store;
  }

  @Override
  protected PlantStore anotherStore() {
    return open("plants");
  }

  /** Copies the files as a killed process would leave them. */
  @Override
  protected PlantStore storeAfterCrash() {
    for (String file : List.of("plants", "plants-wal")) {
      assertDoesNotThrow(
          () -> Files.copy(folder.resolve(file), folder.resolve(file.replace("plants", "left"))));
    }
    return open("left");
  }

  /** Opens a store whose file is locked by another connection. */
  @Override
  protected PlantStore unreachableStore() {
    PlantStore lockedOut = open("locked");
    execute("locked", "BEGIN IMMEDIATE");
    return lockedOut;
  }

  @Override
  protected PlantStore damagedStore() {
    execute("plants", "ALTER TABLE plant DROP COLUMN tag");
    return store;
  }

  @Override
  protected void putInvalidRow(long id) {
    execute("plants", "INSERT INTO plant VALUES (" + id + ", 'a' || char(0) || 'b', NULL)");
  }

  private PlantStore open(String file) {
    SqlitePlantStore made = new SqlitePlantStore(folder.resolve(file));
    opened.push(made);
    return made;
  }

  /** Executes a statement on a connection that remains open until the test ends. */
  private void execute(String file, String sql) {
    assertDoesNotThrow(
        () -> {
          Connection other = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve(file));
          opened.push(other);
          other.createStatement().execute(sql);
        });
  }
}
