package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** More connections than threads or small buffers would bear. */
@Timeout(180)
@Tag("slow")
class ManyConnectionsTest {

  @RegisterExtension static final RunningService RUNNING = new RunningService();

  private static final int CONNECTIONS = 10_000;

  @Test
  void ten_thousand_open_connections_are_served() throws IOException {
    List<KeepAliveClient> clients = new ArrayList<>();
    try {
      for (int client = 0; client < CONNECTIONS; client++) {
        clients.add(new KeepAliveClient(RUNNING.service().address().getPort()));
      }
      for (KeepAliveClient client : clients) {
        assertEquals(200, client.create(1));
        assertFalse(client.isLast());
      }
    } finally {
      for (KeepAliveClient client : clients) {
        client.close();
      }
    }
  }
}
