package org.example.nursery;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

class SqlitePlantStoreTest extends PlantStoreContract {

  @TempDir Path folder;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private PlantStore store;

  @BeforeEach
  void open() {
    store = open("plants");
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable resource : opened) {
      resource.close();
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

  /** Opens a file that another process has locked. */
  @Override
  protected PlantStore unreachableStore() {
    PlantStore lockedOut = open("locked");
    assertDoesNotThrow(
        () -> {
          Connection holder =
              DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locked"));
          opened.add(holder);
          holder.createStatement().execute("BEGIN IMMEDIATE");
        });
    return lockedOut;
  }

  private PlantStore open(String file) {
    SqlitePlantStore made = new SqlitePlantStore(folder.resolve(file));
    opened.add(made);
    return made;
  }
}
