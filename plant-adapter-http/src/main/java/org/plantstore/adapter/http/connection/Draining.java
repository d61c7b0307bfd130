package org.plantstore.adapter.http.connection;

import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.runtime.event.ApplicationShutdownEvent;
import jakarta.inject.Singleton;

/**
 * Knows whether the service is about to stop, and callers had better connect elsewhere. Safe for
 * use by many threads.
 */
@Singleton
final class Draining implements ApplicationEventListener<ApplicationShutdownEvent> {

  private volatile boolean begun;

  boolean hasBegun() {
    return begun;
  }

  @Override
  public void onApplicationEvent(ApplicationShutdownEvent event) {
    begun = true;
  }
}
