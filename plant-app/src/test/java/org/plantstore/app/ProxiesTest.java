package org.plantstore.app;

import java.io.IOException;
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

  /** The proxies whose lines are tried, each with what its lines have around them. */
  private enum Kind {
    NGINX(
        "nginx -e stderr -p . -c ./configuration",
        "daemon off; pid nginx.pid; events {} http { access_log off; %s }"),
    HAPROXY("haproxy -db -f configuration", "%s\n");

    private final String command;
    private final String around;

    Kind(String command, String around) {
      this.command = command;
      this.around = around;
    }
  }

  /** A proxy of two instances, with the lines of the page. */
  private static final class ReverseProxy extends ServiceClient implements AutoCloseable {

    private final Process process;

    ReverseProxy(Path folder, Kind kind, ServiceProcess first, ServiceProcess second)
        throws IOException {
      String lines =
          Manifests.block(Path.of("docs", "proxies.md"), kind)
              .replaceAll("(listen |bind .*:)80\\b", "$1" + port)
              .replace("10.0.0.1:8080", "localhost:" + first.port)
              .replace("10.0.0.2:8080", "localhost:" + second.port)
              .replaceFirst("8081", String.valueOf(first.managementPort))
              .replaceFirst("8081", String.valueOf(second.managementPort));
      Files.writeString(folder.resolve("configuration"), kind.around.formatted(lines));
      process = Program.start(folder, List.of(kind.command.split(" ", -1)));
      Await.until(
          () -> "the proxy listens: " + Manifests.text(folder.resolve("output")), this::isOpen);
    }

    @Override
    public void close() {
      process.destroy();
      process.onExit().join();
    }
  }

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
    replaceBehind(Kind.HAPROXY, first, second, settings);
    // The ports of the first are now those of its replacement.
    replaceBehind(Kind.NGINX, second, first, settings);
  }

  /** Replaces the first instance at its ports, behind a proxy of both. */
  private void replaceBehind(
      Kind kind, ServiceProcess old, ServiceProcess other, Map<String, String> settings)
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
      if (kind == Kind.NGINX) { // HAProxy 2.6 does not repeat a request that was reset
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
