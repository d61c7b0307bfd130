package org.plantstore.app;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A service and its database, there for all the tests of a class. */
final class RunningService implements BeforeAllCallback, AfterAllCallback {

  private @Nullable EmbeddedPostgres database;
  private @Nullable ServiceProcess service;

  ServiceProcess service() {
    return Objects.requireNonNull(service);
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    EmbeddedPostgres started = EmbeddedDatabase.start();
    database = started;
    service = new ServiceProcess(EmbeddedDatabase.environment(started));
    service.awaitReady();
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    if (service != null) {
      service.close();
    }
    if (database != null) {
      database.close();
    }
  }
}
