package org.plantstore.adapter.persistence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A server of a cluster of Citus on this machine, whose data are in a folder of the one that the
 * property {@code citus.folder} names, with the account plants.
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

  @Override
  protected Path data() throws IOException {
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

  /** An instance leaves the tables as they are. */
  @Override
  protected Map<String, Object> settings(Map<String, Object> replacements) {
    Map<String, Object> settings = super.settings(replacements);
    settings.putIfAbsent("database.migrate", "off");
    return settings;
  }

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

  void signal(String name) throws Exception {
    for (ProcessHandle process : processes()) {
      new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor();
    }
  }

  static void makeTable() {
    COORDINATOR.execute("DROP TABLE IF EXISTS plant, flyway_schema_history");
    COORDINATOR.connect(Map.of("database.migrate", "on")).close();
  }

  /** Makes an empty table that is distributed to this number of shards. */
  static void makeTable(int shards) {
    makeTable();
    COORDINATOR.execute(
        "SET citus.shard_count = " + shards, "SELECT create_distributed_table('plant', 'id')");
  }
}
