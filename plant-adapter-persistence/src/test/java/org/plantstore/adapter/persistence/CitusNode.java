package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.plantstore.fixture.DatabaseServer;

/**
 * A server of a Citus cluster on this machine. Its data directory is inside the directory that the
 * property {@code citus.folder} names. Its superuser is {@code plants}.
 */
final class CitusNode extends PostgresServer {

  static final CitusNode COORDINATOR = new CitusNode("coordinator");
  static final CitusNode WORKER1 = new CitusNode("worker1");
  static final CitusNode WORKER2 = new CitusNode("worker2");
  static final List<CitusNode> ALL = List.of(COORDINATOR, WORKER1, WORKER2);

  private final String folder;

  private CitusNode(String folder) {
    super("plants");
    this.folder = folder;
  }

  private Path data() throws IOException {
    return Path.of(System.getProperty("citus.folder", "none"), folder).toRealPath();
  }

  @Override
  public int port() {
    return Integer.parseInt(
        assertDoesNotThrow(() -> Files.readAllLines(data().resolve("postmaster.pid")))
            .get(3)
            .strip());
  }

  String address() {
    return "localhost:" + port();
  }

  /** Returns the settings of an instance that does not migrate the database by default. */
  @Override
  protected Map<String, Object> settings(Map<String, Object> replacements) {
    Map<String, Object> settings = super.settings(replacements);
    settings.putIfAbsent("database.migrate", "off");
    return settings;
  }

  void start() throws Exception {
    // This file contains the command that last started the server, beginning with its path.
    String program = Files.readString(data().resolve("postmaster.opts")).split(" ", -1)[0];
    String control = Path.of(program).resolveSibling("pg_ctl").toString();
    String user = Files.getOwner(data()).getName();
    String data = data().toString();
    String[] command = {
      "runuser", "-u", user, "--", control, "-D", data, "-l", data + ".log", "-w", "start"
    };
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertEquals(0, process.waitFor(), String.join(" ", command));
  }

  void kill() throws IOException {
    DatabaseServer.kill(data());
  }

  void signal(String name) throws Exception {
    for (ProcessHandle process : DatabaseServer.processes(data())) {
      new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor();
    }
  }

  static void createTable() {
    COORDINATOR.execute("DROP TABLE IF EXISTS plant, flyway_schema_history");
    COORDINATOR.connect(Map.of("database.migrate", "on")).close();
  }

  /** Creates an empty distributed table with this number of shards. */
  static void createTable(int shards) {
    createTable();
    COORDINATOR.execute(
        "SET citus.shard_count = " + shards, "SELECT create_distributed_table('plant', 'id')");
  }
}
