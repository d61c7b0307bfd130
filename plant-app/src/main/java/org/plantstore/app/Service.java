package org.plantstore.app;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.runtime.Micronaut;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Micronaut's start, except that a failure is one line for operators instead of a stack trace, and
 * that SIGTERM first drains the service and then stops it.
 */
final class Service extends Micronaut {

  Service() {
    banner(false);
  }

  @Override
  public ApplicationContext start() {
    AtomicReference<ApplicationContext> started = new AtomicReference<>();
    TerminationSignal.handle(() -> {
      int exitCode = 1;
      try {
        ApplicationContext context = started.get();
        if (context != null) {
          context.getBean(Shutdown.class).run();
        }
        exitCode = 0;
      } finally {
        System.exit(exitCode);
      }
    });
    ApplicationContext context = super.start();
    started.set(context);
    return context;
  }

  @Override
  protected void handleStartupException(Environment environment, Throwable failure) {
    StartupFailure.exit(failure);
  }
}
