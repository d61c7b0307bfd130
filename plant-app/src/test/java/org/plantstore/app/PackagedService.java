package org.plantstore.app;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The service as it is installed: a folder with the jar, its start script and perhaps an AOT cache.
 *
 * @param folder where they are, and where the service runs
 */
record PackagedService(Path folder) {

  Path aotCache() {
    return folder.resolve("plant-app.aot");
  }

  /** Starts it on the Java of this process, and does not wait for it. */
  ServiceProcess start(Map<String, String> environment) {
    Map<String, String> complete = new HashMap<>(environment);
    complete.put("JAVA_HOME", System.getProperty("java.home"));
    return new ServiceProcess(
        new ProcessBuilder(folder.resolve("plant-store").toString()).directory(folder.toFile()),
        complete);
  }
}
