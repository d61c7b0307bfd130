package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micronaut.context.ApplicationContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A cluster of Citus on this machine, which the property {@code citus.folder} names: the running
 * servers whose data are in its folders coordinator, worker1 and worker2, with the account plants.
 */
final class CitusCluster {

  private static final Path FOLDER = Path.of(System.getProperty("citus.folder", "none"));
  private static final String ACCOUNT = "plants";

  private CitusCluster() {}

  /** A server of the cluster. */
  enum Node {
    COORDINATOR,
    WORKER1,
    WORKER2;

    private Path data() {
      try {
        return FOLDER.resolve(name().toLowerCase(Locale.ROOT)).toRealPath();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private String lineOfPidFile(int number) {
      try {
        return Files.readAllLines(data().resolve("postmaster.pid")).get(number).strip();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Host and port, as Citus names the node. */
    String address() {
      return "localhost:" + lineOfPidFile(3);
    }

    private String url() {
      return "jdbc:postgresql://" + address() + "/postgres";
    }

    private List<ProcessHandle> processes() {
      ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(lineOfPidFile(0))).orElseThrow();
      return Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
    }

    /** Kills all of its processes at once. */
    void kill() {
      List<ProcessHandle> processes = processes();
      processes.forEach(ProcessHandle::destroyForcibly);
      processes.forEach(process -> process.onExit().join());
    }

    /** Restarts it with the data on its disk. */
    void start() throws Exception {
      // The command of its last start, whose first word is the path of the server's program.
      String program = Files.readString(data().resolve("postmaster.opts")).split(" ", -1)[0];
      String control = Path.of(program).resolveSibling("pg_ctl").toString();
      String account = Files.getOwner(data()).getName();
      String data = data().toString();
      String[] command = {
        "runuser", "-u", account, "--", control, "-D", data, "-l", data + ".log", "-w", "start"
      };
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      assertEquals(0, process.waitFor(), String.join(" ", command));
    }

    /** Sends a signal to all of its processes. */
    void signal(String name) throws Exception {
      for (ProcessHandle process : processes()) {
        new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor();
      }
    }

    void execute(String... statements) {
      try (Connection connection = connection();
          Statement statement = connection.createStatement()) {
        for (String sql : statements) {
          statement.execute(sql);
        }
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Returns the single value of a query. */
    String ask(String query) throws SQLException {
      try (Connection connection = connection();
          Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery(query)) {
        result.next();
        return result.getString(1);
      }
    }

    Connection connection() throws SQLException {
      return DriverManager.getConnection(url(), ACCOUNT, "any");
    }

    /** Starts an instance at this node, which leaves the tables as they are. */
    ApplicationContext connect(Map<String, Object> replacements) {
      Map<String, Object> settings = new HashMap<>(settings());
      settings.put("database.migrate", "off");
      settings.putAll(replacements);
      return ApplicationContext.run(settings);
    }

    private Map<String, Object> settings() {
      return Map.of(
          "database.url", url(), "database.username", ACCOUNT, "database.password", "any");
    }
  }

  /** Makes an empty table at the coordinator. */
  static void makeTable() {
    Node.COORDINATOR.execute("DROP TABLE IF EXISTS plant, flyway_schema_history");
    ApplicationContext.run(Node.COORDINATOR.settings()).close();
  }

  /** Makes an empty table that is distributed to this number of shards. */
  static void makeTable(int shards) {
    makeTable();
    Node.COORDINATOR.execute(
        "SET citus.shard_count = " + shards, "SELECT create_distributed_table('plant', 'id')");
  }
}
