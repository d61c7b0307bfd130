package org.plantstore.app;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * SIGTERM, by which a service manager asks a process to end. By default the JVM then ends at once,
 * with an exit code that looks like a failure.
 */
final class TerminationSignal {

  private static final Logger LOG = LoggerFactory.getLogger(TerminationSignal.class);

  private TerminationSignal() {}

  /**
   * Runs the action, in a thread of its own, when the process receives SIGTERM. Uses reflection,
   * because the JDK has no other access to signals, and the compiler warns of this one.
   */
  static void handle(Runnable action) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object handlerOfAction =
          Proxy.newProxyInstance(
              handler.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) -> {
                Thread thread = new Thread(action, "termination");
                // Otherwise the JVM would end with the last thread of the server, before the action
                // has.
                thread.setDaemon(false);
                thread.start();
                return null;
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("TERM"), handlerOfAction);
    } catch (ReflectiveOperationException e) {
      // Such as with -Xrs, which leaves signals to the system.
      LOG.warn(
          "SIGTERM will end the service without draining it: {}", String.valueOf(e.getCause()));
    }
  }
}
