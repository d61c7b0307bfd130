package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.fixture.DatabaseServer;

/**
 * HAProxy and nginx, configured as in {@code proxies.md}, in front of two instances. The test is
 * skipped if a proxy is not installed.
 */
@Tag("slow")
class ProxiesTest {

  private static final int WRITERS = 8;
  private static final int PROGRESS = 100;

  /** The format of the request ids that HAProxy generates. */
  private static final String HAPROXY_REQUEST_ID = "[0-9a-f]{8}-[-0-9a-f]{27}";

  /** The format of the request ids that nginx generates. */
  private static final String NGINX_REQUEST_ID = "[0-9a-f]{32}";

  @TempDir Path folder;

  private final List<ServiceProcess> instances = new ArrayList<>();
  private final List<Process> proxies = new ArrayList<>();

  @AfterEach
  void stopAll() {
    instances.forEach(ServiceProcess::close);
    proxies.forEach(proxy -> proxy.destroyForcibly().onExit().join());
  }

  @Test
  void no_request_fails_while_an_instance_is_replaced_or_killed() throws Exception {
    Map<String, String> settings =
        Database.create().environment("DRAIN_SECONDS", "1", "ACCESS_LOG", "on");
    ServiceProcess first = start(settings);
    ServiceProcess second = start(settings).awaitReady();
    first.awaitReady();
    URI haproxy = startProxy("haproxy", "%s\n", "haproxy -db -f lines", first, second);
    URI nginx =
        startProxy(
            "nginx",
            "daemon off; pid nginx.pid; events {} http { access_log off; %s }",
            "nginx -e stderr -p . -c ./lines",
            first,
            second);
    try (Writers behindHaproxy = new Writers(WRITERS, () -> haproxy);
        Writers behindNginx = new Writers(WRITERS, () -> nginx)) {
      behindHaproxy.awaitProgress(PROGRESS);
      behindNginx.awaitProgress(PROGRESS);
      first.stop();
      settings.put("PORT", String.valueOf(first.port));
      settings.put("MANAGEMENT_PORT", String.valueOf(first.managementPort));
      ServiceProcess replacement = start(settings);
      for (String id : List.of(HAPROXY_REQUEST_ID, NGINX_REQUEST_ID)) {
        Pattern used = Pattern.compile("request_id=" + id + "\\b.* status=");
        Await.until(() -> assertTrue(used.matcher(replacement.output()).find(), id));
      }
      // HAProxy 2.6 does not retry a request whose connection was reset, so its writers stop before
      // an instance is killed.
      behindHaproxy.stopWithoutRetries();

      replacement.close();
      behindNginx.awaitProgress(PROGRESS);
      behindNginx.stopWithoutRetries();
    }
  }

  /** Starts a proxy for two instances with the configuration from the page. */
  private URI startProxy(
      String language, String template, String command, ServiceProcess first, ServiceProcess second)
      throws Exception {
    int port = DatabaseServer.freePort();
    String lines =
        ProjectFiles.block(ProjectFiles.page("proxies.md"), language)
            .replaceAll("(listen |bind .*:)80\\b", "$1" + port)
            .replace("10.0.0.1:8080", "localhost:" + first.port)
            .replace("10.0.0.2:8080", "localhost:" + second.port)
            .replaceFirst("8081", String.valueOf(first.managementPort))
            .replaceFirst("8081", String.valueOf(second.managementPort));
    Path configuration = Files.createDirectory(folder.resolve(language));
    Files.writeString(configuration.resolve("lines"), template.formatted(lines));
    proxies.add(Program.start(configuration, command.split(" ")));
    Await.until(() ->
        assertTrue(
            ServiceProcess.isOpen(port), () -> ProjectFiles.text(configuration.resolve("output"))));
    return URI.create("http://localhost:" + port);
  }

  private ServiceProcess start(Map<String, String> settings) {
    ServiceProcess instance = new ServiceProcess(settings);
    instances.add(instance);
    return instance;
  }
}
