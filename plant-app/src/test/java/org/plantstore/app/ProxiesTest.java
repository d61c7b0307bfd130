package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No request fails behind the proxies of the page while instances are replaced, nor behind nginx
 * while one is killed.
 */
@Tag("slow")
class ProxiesTest {

  private static final int WRITERS = 8;
  private static final int PROGRESS = 100;

  /** An instance that is up, in HAProxy's statistics. */
  private static final Pattern UP = Pattern.compile(",(?:first|second),.*,UP,");

  @TempDir Path folder;

  /** The proxies whose lines on the page are tried, each with what its lines have around them. */
  enum Kind {
    NGINX(
        "nginx -e stderr -p . -c ./configuration",
        "daemon off; pid nginx.pid; events {} http { access_log off; %s }"),
    HAPROXY("haproxy -db -f configuration", "%s\nlisten statistics\n  bind :%d\n  stats uri /\n");

    private final String command;
    private final String around;

    Kind(String command, String around) {
      this.command = command;
      this.around = around;
    }
  }

  @ParameterizedTest
  @EnumSource
  void no_request_fails_while_instances_are_replaced_and_killed(Kind kind) throws Exception {
    Map<String, String> settings =
        Database.create().environment(Map.of("DRAIN_SECONDS", "1", "ACCESS_LOG", "on"));
    try (ServiceProcess first = new ServiceProcess(settings);
        ServiceProcess second = new ServiceProcess(settings);
        Proxy proxy = new Proxy(kind, first.awaitReady(), second.awaitReady());
        ChaosWriters writers = new ChaosWriters(WRITERS, () -> proxy)) {
      writers.awaitProgress(PROGRESS);
      first.stop();
      try (ServiceProcess replacement = replace(first, settings)) {
        proxy.awaitUp(kind);
        writers.awaitProgress(PROGRESS);
        second.stop();
        try (ServiceProcess other = replace(second, settings)) {
          proxy.awaitUp(kind);
          writers.awaitProgress(PROGRESS);
          if (kind == Kind.NGINX) { // HAProxy 2.6 does not repeat a request that was reset
            replacement.signal("KILL");
            writers.awaitProgress(PROGRESS);
            assertTrue(other.isAlive());
          }
          writers.stopWithoutRepeats();
        }
      }
    }
  }

  /** Starts an instance at the ports of one that has ended. */
  private static ServiceProcess replace(ServiceProcess ended, Map<String, String> settings) {
    settings.put("PORT", String.valueOf(ended.port));
    settings.put("MANAGEMENT_PORT", String.valueOf(ended.managementPort));
    ServiceProcess replacement = new ServiceProcess(settings);
    replacement.awaitLine("outcome=created"); // the proxy uses it again
    return replacement;
  }

  /** A proxy in front of two instances. */
  private final class Proxy extends ServiceClient implements AutoCloseable {

    private final Process process;

    Proxy(Kind kind, ServiceProcess first, ServiceProcess second) throws IOException {
      String lines =
          Manifests.block(Path.of("docs", "proxies.md"), kind)
              .replaceAll("(listen |bind .*:)80\\b", "$1" + port)
              .replace("10.0.0.1:8080", "localhost:" + first.port)
              .replace("10.0.0.2:8080", "localhost:" + second.port)
              .replaceFirst("8081", String.valueOf(first.managementPort))
              .replaceFirst("8081", String.valueOf(second.managementPort));
      Files.writeString(
          folder.resolve("configuration"),
          String.format(Locale.ROOT, kind.around, lines, managementPort));
      List<String> command = new ArrayList<>(List.of(kind.command.split(" ", -1)));
      command.set(0, Program.requireInstalled(command.get(0)));
      process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(Redirect.to(folder.resolve("output").toFile()))
              .start();
      Await.until(
          () -> "the proxy listens: " + Manifests.text(folder.resolve("output")),
          Await.LIMIT,
          this::isOpen);
    }

    /** Waits until HAProxy uses both instances: it removes those of three failed checks. */
    void awaitUp(Kind kind) {
      HttpRequest.Builder statistics = HttpRequest.newBuilder(managementAddress().resolve("/;csv"));
      Await.until(
          "both instances are up",
          () -> kind == Kind.NGINX || UP.matcher(send(statistics).body()).results().count() == 2);
    }

    @Override
    public void close() {
      process.destroy();
      process.onExit().join();
    }
  }
}
