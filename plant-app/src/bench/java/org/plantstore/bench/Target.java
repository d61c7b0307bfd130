package org.plantstore.bench;

import java.io.IOException;

/**
 * Where load goes.
 *
 * @param name what it is called in the figures
 * @param service the service
 * @param token a token that it accepts
 */
record Target(String name, Service service, String token) implements AutoCloseable {

  @Override
  public void close() throws IOException {
    service.close();
  }
}
