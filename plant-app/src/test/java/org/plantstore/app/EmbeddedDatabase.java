package org.plantstore.app;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.plantstore.app.development.DevelopmentKey;

/** A PostgreSQL as durable as one in production, and the settings of a service that uses it. */
final class EmbeddedDatabase {

  private EmbeddedDatabase() {}

  /** Starts a server whose data are deleted when it is closed. */
  static EmbeddedPostgres start() throws IOException {
    return durable().start();
  }

  static EmbeddedPostgres start(Path data, int port) throws IOException {
    return durable().setDataDirectory(data).setCleanDataDirectory(false).setPort(port).start();
  }

  private static EmbeddedPostgres.Builder durable() {
    return EmbeddedPostgres.builder()
        .setServerConfig("fsync", "on")
        .setServerConfig("full_page_writes", "on")
        .setServerConfig("synchronous_commit", "on");
  }

  static Map<String, String> environment(EmbeddedPostgres database) {
    Map<String, String> environment = new HashMap<>();
    environment.put(
        "DATABASE_URL", "jdbc:postgresql://localhost:" + database.getPort() + "/postgres");
    environment.put("DATABASE_USERNAME", "postgres");
    environment.put("DATABASE_PASSWORD", "postgres");
    environment.put("JWT_SECRET", DevelopmentKey.SECRET);
    return environment;
  }
}
