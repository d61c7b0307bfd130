package org.plantstore.app;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Property;

/** Tells which version runs, in the metric {@code plant_store_info} too. */
@Context
final class Version {

  Version(MeterRegistry registry, @Property(name = InstalledStores.NAME) String store) {
    String[] versionAndCommit = text().split("\\+", 2);
    Gauge.builder("plant.store.info", () -> 1)
        .description("What runs")
        .tag("version", versionAndCommit[0])
        .tag("commit", versionAndCommit[versionAndCommit.length - 1])
        .tag("store", store)
        .register(registry);
  }

  /** Returns the version and the commit as Semantic Versioning does, such as 1.0.0+3f2a…. */
  static String text() {
    String packaged = Version.class.getPackage().getImplementationVersion();
    return packaged == null ? "unknown" : packaged;
  }
}
