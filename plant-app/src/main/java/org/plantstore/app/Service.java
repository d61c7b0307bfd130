package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.runtime.Micronaut;

/**
 * Micronaut's start, except that a failure is told to operators instead of programmers, and that a
 * service which is asked to end does so in two steps.
 */
final class Service extends Micronaut {

  Service() {
    banner(false);
  }

  @Override
  public ApplicationContext start() {
    ApplicationContext context = super.start();
    Shutdown shutdown = context.getBean(Shutdown.class);
    TerminationSignal.handle(() -> {
      shutdown.drain();
      System.exit(0);
    });
    return context;
  }

  @Override
  protected void handleStartupException(Environment environment, Throwable failure) {
    StartupFailure.exit(failure);
  }
}
