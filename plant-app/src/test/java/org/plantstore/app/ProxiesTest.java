package org.plantstore.app;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The proxies of the page in front of two instances. */
@Tag("slow")
class ProxiesTest {

  private static final int WRITERS = 8;
  private static final int PROGRESS = 100;

  @TempDir Path folder;

  private final List<ServiceProcess> instances = new ArrayList<>();

  @AfterEach
  void end() {
    instances.forEach(ServiceProcess::close);
  }

  @Test
  void no_request_fails_while_an_instance_is_replaced_or_killed() throws Exception {
    Map<String, String> settings =
        Database.create().environment(Map.of("DRAIN_SECONDS", "1", "ACCESS_LOG", "on"));
    ServiceProcess first = start(settings);
    ServiceProcess second = start(settings);
    first.awaitReady();
    second.awaitReady();
    replaceBehind(ReverseProxy.Kind.HAPROXY, first, second, settings);
    // The ports of the first are now those of its replacement.
    replaceBehind(ReverseProxy.Kind.NGINX, second, first, settings);
  }

  /** Replaces the first instance at its ports, behind a proxy of both. */
  private void replaceBehind(
      ReverseProxy.Kind kind,
      ServiceProcess old,
      ServiceProcess other,
      Map<String, String> settings)
      throws Exception {
    try (ReverseProxy proxy = new ReverseProxy(folder, kind, old, other);
        ChaosWriters writers = new ChaosWriters(WRITERS, () -> proxy)) {
      writers.awaitProgress(PROGRESS);
      old.stop();
      settings.put("PORT", String.valueOf(old.port));
      settings.put("MANAGEMENT_PORT", String.valueOf(old.managementPort));
      ServiceProcess replacement = start(settings);
      replacement.awaitLine("outcome=created"); // the proxy uses it
      writers.awaitProgress(PROGRESS);
      if (kind == ReverseProxy.Kind.NGINX) { // HAProxy 2.6 does not repeat a request that was reset
        replacement.signal("KILL");
        writers.awaitProgress(PROGRESS);
      }
      writers.stopWithoutRepeats();
    }
  }

  private ServiceProcess start(Map<String, String> settings) {
    ServiceProcess instance = new ServiceProcess(settings);
    instances.add(instance);
    return instance;
  }
}
