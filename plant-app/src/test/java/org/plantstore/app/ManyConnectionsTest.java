package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** More connections than a service with threads or large buffers could hold. */
@Timeout(180)
@Tag("slow")
class ManyConnectionsTest {

  private static final int CONNECTIONS = 10_000;

  @Test
  void ten_thousand_open_connections_are_served() throws Exception {
    ServiceProcess service = ServiceProcess.shared();
    String token = ServiceProcess.token();
    List<RawClient> clients = new ArrayList<>();
    try {
      for (int client = 0; client < CONNECTIONS; client++) {
        clients.add(new RawClient(service.port, token));
      }
      for (RawClient client : clients) {
        assertEquals(200, client.create(603));
        assertFalse(client.isLast());
      }
    } finally {
      for (RawClient client : clients) {
        client.close();
      }
    }
  }
}
