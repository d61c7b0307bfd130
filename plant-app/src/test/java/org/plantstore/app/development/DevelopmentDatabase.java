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
 * An embedded, durable PostgreSQL server. Its files are in one folder. It stops with the process.
 */
final class DevelopmentDatabase {

  static final String USERNAME = "postgres";
  static final String PASSWORD = "postgres";

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

  /** Excludes a second process from the folder. Referenced and open until the process ends. */
  @SuppressWarnings("UnusedVariable")
  private static @Nullable FileChannel lock;

  private DevelopmentDatabase() {}

  /** Starts the server, and returns its address. */
  static String start(Path folder) throws IOException {
    createForUserAlone(folder);
    FileChannel channel =
        FileChannel.open(
            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (channel.tryLock() == null) {
      throw new IOException("another process runs the service in development mode on " + folder);
    }
    lock = channel;
    Path data = folder.resolve("data");
    Path initialising = folder.resolve("initialising");
    stopLeftover(data);
    if (Files.exists(initialising)) {
      // The first start did not finish, so the database is incomplete.
      FileUtils.deleteDirectory(data.toFile());
    } else if (!Files.exists(data)) {
      Files.createFile(initialising);
    }
    EmbeddedPostgres server =
        EmbeddedPostgres.builder()
            .setOverrideWorkingDirectory(folder.resolve("server").toFile())
            .setDataDirectory(data)
            .setCleanDataDirectory(false)
            .setServerConfig("fsync", "on")
            .setServerConfig("full_page_writes", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("unix_socket_directories", "")
            .start();
    Files.deleteIfExists(initialising);
    return "jdbc:postgresql://localhost:" + server.getPort() + "/postgres";
  }

  /** The folder contains the server's programs, so other users must not be able to write to it. */
  private static void createForUserAlone(Path folder) throws IOException {
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

  /** Stops the server of a killed process, which would refuse a second server. */
  private static void stopLeftover(Path data) throws IOException {
    Path pidFile = data.resolve("postmaster.pid");
    if (!Files.exists(pidFile) || Files.size(pidFile) == 0) {
      return;
    }
    long pid = Long.parseLong(Files.readAllLines(pidFile).get(0).strip());
    ProcessHandle process = ProcessHandle.of(pid).orElse(null);
    String command = process == null ? "" : process.info().commandLine().orElse("");
    // Another process may have the number by now.
    if (process != null && command.contains("postgres") && command.contains(data.toString())) {
      process.destroy();
      process.onExit().orTimeout(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
    }
  }
}
