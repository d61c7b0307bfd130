package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Property;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Publishes the running version as the metric {@code plant_store_info}. */
@Context
final class Version {

  Version(MeterRegistry registry, @Property(name = InstalledStores.NAME) String store) {
    String[] versionAndCommit = text().split("\\+", 2);
    Gauge.builder("plant.store.info", () -> 1)
        .description("The version, commit, and store of the running service")
        .tag("version", versionAndCommit[0])
        .tag("commit", versionAndCommit[versionAndCommit.length - 1])
        .tag("store", store)
        .register(registry);
  }

  /** Returns the version and the commit in Semantic Versioning format, such as 1.0.0+3f2a…. */
  static String text() {
    try (InputStream packaged = Version.class.getResourceAsStream("version")) {
      return packaged == null ? "unknown" : new String(packaged.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
