package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The proxies of the page in front of two instances; skipped where they are not installed. */
@Tag("slow")
class ProxiesTest {

  private static final int WRITERS = 8;
  private static final int PROGRESS = 100;

  @TempDir Path folder;

  private final List<ServiceProcess> instances = new ArrayList<>();
  private final List<Process> proxies = new ArrayList<>();

  @AfterEach
  void end() {
    instances.forEach(ServiceProcess::close);
    proxies.forEach(proxy -> proxy.destroyForcibly().onExit().join());
  }

  @Test
  void no_request_fails_while_an_instance_is_replaced_or_killed() throws Exception {
    Map<String, String> settings =
        Database.create().environment("DRAIN_SECONDS", "1", "ACCESS_LOG", "on");
    ServiceProcess first = start(settings).awaitReady();
    ServiceProcess second = start(settings).awaitReady();
    URI haproxy = startProxy("haproxy", "%s\n", "haproxy -db -f lines", first, second);
    URI nginx =
        startProxy(
            "nginx",
            "daemon off; pid nginx.pid; events {} http { access_log off; %s }",
            "nginx -e stderr -p . -c ./lines",
            first,
            second);

    try (Writers writers = new Writers(WRITERS, () -> haproxy)) {
      replace(first, settings, writers);
      writers.stopWithoutRepeats();
    }
    try (Writers writers = new Writers(WRITERS, () -> nginx)) {
      replace(second, settings, writers).close();
      writers.awaitProgress(PROGRESS);
      writers.stopWithoutRepeats();
    }
  }

  /** Starts a proxy of two instances with the lines of the page. */
  private URI startProxy(
      String language, String around, String command, ServiceProcess first, ServiceProcess second)
      throws Exception {
    int port = ServiceProcess.freePort();
    String lines =
        Manifests.block(Manifests.page("proxies.md"), language)
            .replaceAll("(listen |bind .*:)80\\b", "$1" + port)
            .replace("10.0.0.1:8080", "localhost:" + first.port)
            .replace("10.0.0.2:8080", "localhost:" + second.port)
            .replaceFirst("8081", String.valueOf(first.managementPort))
            .replaceFirst("8081", String.valueOf(second.managementPort));
    Path configuration = Files.createDirectory(folder.resolve(language));
    Files.writeString(configuration.resolve("lines"), around.formatted(lines));
    proxies.add(Program.start(configuration, command.split(" ")));
    Await.until(() ->
        assertTrue(
            ServiceProcess.isOpen(port), () -> Manifests.text(configuration.resolve("output"))));
    return URI.create("http://localhost:" + port);
  }

  /** Replaces an instance at its ports. */
  private ServiceProcess replace(
      ServiceProcess old, Map<String, String> settings, Writers writers) {
    writers.awaitProgress(PROGRESS);
    old.stop();
    settings.put("PORT", String.valueOf(old.port));
    settings.put("MANAGEMENT_PORT", String.valueOf(old.managementPort));
    ServiceProcess replacement = start(settings);
    replacement.awaitLine("outcome=created"); // the proxy uses it
    writers.awaitProgress(PROGRESS);
    return replacement;
  }

  private ServiceProcess start(Map<String, String> settings) {
    ServiceProcess instance = new ServiceProcess(settings);
    instances.add(instance);
    return instance;
  }
}
