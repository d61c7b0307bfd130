package org.plantstore.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A proxy of two instances, with the lines of the page; skips the test if it is absent. */
final class ReverseProxy extends ServiceClient implements AutoCloseable {

  /** The proxies whose lines are tried, each with what its lines have around them. */
  enum Kind {
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

  private final Process process;

  ReverseProxy(Path folder, Kind kind, ServiceProcess first, ServiceProcess second)
      throws IOException {
    String lines =
        Manifests.block(Path.of("docs", "proxies.md"), kind)
            .replaceAll("(listen |bind .*:)80\\b", "$1" + port)
            .replace("client_max_body_size 2m", "client_max_body_size 8m")
            .replace("10.0.0.1:8080", "localhost:" + first.port)
            .replace("10.0.0.2:8080", "localhost:" + second.port)
            .replaceFirst("8081", String.valueOf(first.managementPort))
            .replaceFirst("8081", String.valueOf(second.managementPort));
    Files.writeString(folder.resolve("configuration"), kind.around.formatted(lines));
    process = Program.start(folder, List.of(kind.command.split(" ", -1)));
    Await.until(
        () -> "the proxy listens: " + Manifests.text(folder.resolve("output")),
        Await.LIMIT,
        this::isOpen);
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
