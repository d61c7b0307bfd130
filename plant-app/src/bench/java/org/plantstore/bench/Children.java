package org.plantstore.bench;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Processes that this one starts. None outlives it, also not when it is interrupted. */
final class Children {

  private static final Set<Process> LIVING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> LIVING.forEach(Children::kill)));
  }

  private Children() {}

  static Process start(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    LIVING.add(process);
    return process;
  }

  /** Kills a process if it still lives, and returns once it has ended. */
  static void end(Process process) {
    kill(process);
    process.onExit().join();
    LIVING.remove(process);
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
