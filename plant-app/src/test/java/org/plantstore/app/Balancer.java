package org.plantstore.app;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A balancer that knows no HTTP: it hands each connection to a service that says it is ready. */
final class Balancer implements AutoCloseable {

  private final ServerSocket entrance = new ServerSocket(0);
  private final List<ServiceProcess> services = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger turn = new AtomicInteger();

  Balancer() throws IOException {
    threads.execute(this::accept);
  }

  int port() {
    return entrance.getLocalPort();
  }

  void add(ServiceProcess service) {
    services.add(service);
  }

  void remove(ServiceProcess service) {
    services.remove(service);
  }

  private void accept() {
    try {
      while (true) {
        Socket client = entrance.accept();
        threads.execute(() -> connect(client));
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private void connect(Socket client) {
    List<ServiceProcess> ready =
        services.stream().filter(service -> service.readiness() == 200).toList();
    try (client;
        Socket service =
            new Socket(
                "localhost", ready.get(Math.floorMod(turn.getAndIncrement(), ready.size())).port)) {
      threads.execute(() -> forward(client, service));
      forward(service, client);
    } catch (IOException e) {
      // The client meets a closed connection.
    }
  }

  private static void forward(Socket from, Socket to) {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException e) {
      // One of the two has closed the connection.
    }
  }

  @Override
  public void close() throws IOException {
    entrance.close();
    threads.shutdownNow();
  }
}
