package org.plantstore.adapter.http.connection;

import jakarta.inject.Named;
import jakarta.inject.Singleton;

/** Whether the service ends: from then on each answer closes its connection. Thread-safe. */
@Singleton
@Named("drain")
final class Drain implements Runnable {

  private volatile boolean hasBegun;

  @Override
  public void run() {
    hasBegun = true;
  }

  boolean hasBegun() {
    return hasBegun;
  }
}
