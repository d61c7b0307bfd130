package org.plantstore.app;

import io.micronaut.context.env.Environment;
import io.micronaut.runtime.Micronaut;

/** Micronaut's start, except that a failure is told to operators instead of programmers. */
final class Service extends Micronaut {

  Service() {
    banner(false);
  }

  @Override
  protected void handleStartupException(Environment environment, Throwable failure) {
    StartupFailure.exit(failure);
  }
}
