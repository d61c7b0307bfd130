package org.plantstore.app.development;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.commons.io.FileUtils;
import org.jspecify.annotations.Nullable;

/**
 * An embedded, durable PostgreSQL server that keeps its files in one folder. The server stops when
 * the process exits.
 */
final class DevelopmentDatabase {

  static final String USERNAME = "postgres";
  static final String PASSWORD = "postgres";

  private static final Duration START_TIMEOUT = Duration.ofMinutes(1);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

  /**
   * Keeps a second process from using the folder. The channel must stay referenced, and therefore
   * open, until the process exits.
   */
  @SuppressWarnings("UnusedVariable")
  private static @Nullable FileChannel lock;

  private DevelopmentDatabase() {}

  /** Starts the server and returns its JDBC URL. */
  static String start(Path folder) throws IOException {
    createPrivateFolder(folder);
    FileChannel channel =
        FileChannel.open(
            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (channel.tryLock() == null) {
      throw new IOException(
          "another process in development mode uses the folder \"" + folder + "\"; stop it first");
    }
    lock = channel;
    Path data = folder.resolve("data");
    Path initializing = folder.resolve("initializing");
    stopLeftover(data);
    if (Files.exists(initializing)) {
      // The first run did not finish creating the database, so its files are incomplete.
      FileUtils.deleteDirectory(data.toFile());
    } else if (!Files.exists(data)) {
      Files.createFile(initializing);
    }
    EmbeddedPostgres server =
        EmbeddedPostgres.builder()
            .setOverrideWorkingDirectory(folder.resolve("server").toFile())
            .setDataDirectory(data)
            .setCleanDataDirectory(false)
            .setPGStartupWait(START_TIMEOUT)
            .setServerConfig("fsync", "on")
            .setServerConfig("full_page_writes", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("unix_socket_directories", "")
            .start();
    Files.deleteIfExists(initializing);
    return "jdbc:postgresql://localhost:" + server.getPort() + "/postgres";
  }

  /**
   * Creates a folder that other users cannot write to, because it will contain the server's
   * programs.
   */
  private static void createPrivateFolder(Path folder) throws IOException {
    if (Files.exists(folder)) {
      return;
    }
    Files.createDirectories(folder);
    PosixFileAttributeView permissions =
        Files.getFileAttributeView(folder, PosixFileAttributeView.class);
    if (permissions != null) {
      permissions.setPermissions(PosixFilePermissions.fromString("rwx------"));
    }
  }

  /**
   * Stops a server that a killed process left running, because PostgreSQL refuses a second server
   * on the same data.
   */
  private static void stopLeftover(Path data) throws IOException {
    Path pidFile = data.resolve("postmaster.pid");
    if (!Files.exists(pidFile) || Files.size(pidFile) == 0) {
      return;
    }
    long pid = Long.parseLong(Files.readAllLines(pidFile).get(0).strip());
    ProcessHandle process = ProcessHandle.of(pid).orElse(null);
    String command = process == null ? "" : process.info().commandLine().orElse("");
    // Another process may have the same process id by now.
    if (process != null && command.contains("postgres") && command.contains(data.toString())) {
      process.destroy();
      process.onExit().orTimeout(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
    }
  }
}
