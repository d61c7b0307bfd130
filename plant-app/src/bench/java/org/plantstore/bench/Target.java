package org.plantstore.bench;

/**
 * Where load goes.
 *
 * @param name what it is called in the figures
 * @param service the service
 * @param token a token that it accepts
 */
record Target(String name, Service service, String token) implements AutoCloseable {

  @Override
  public void close() {
    service.close();
  }
}
