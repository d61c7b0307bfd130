package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.URI;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Loses, duplicates, delays or cuts one in ten of the small responses of a service. */
final class LossyNetwork extends NetworkProxy {

  private static final int MAX_BYTES = 1_000;

  private final AtomicInteger responses = new AtomicInteger();

  LossyNetwork(int target) {
    super(InetAddress.getLoopbackAddress(), 0, target, 256);
  }

  URI address() {
    return URI.create("http://localhost:" + port());
  }

  @Override
  void passOn(byte[] part, OutputStream to) throws IOException {
    boolean isResponse =
        part.length < MAX_BYTES && new String(part, ISO_8859_1).matches("(?s)HTTP/1.1 .*}");
    int number = isResponse ? responses.incrementAndGet() : 1;
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (number % 4_000 == 0) {
      return; // lost, and the connection stays open
    }
    switch (number % 40) {
      case 0 -> throw new IOException("lost");
      case 10 -> to.write(part); // and again below
      case 20 -> LockSupport.parkNanos(random.nextLong(100_000_000));
      case 30 -> {
        to.write(part, 0, random.nextInt(part.length));
        throw new IOException("cut");
      }
      default -> {}
    }
    to.write(part);
  }
}
