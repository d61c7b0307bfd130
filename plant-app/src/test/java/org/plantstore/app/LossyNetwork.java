package org.plantstore.app;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/** Loses, doubles, delays and cuts small answers of the service, about one in ten. */
final class LossyNetwork extends NetworkProxy {

  /** What happens to an answer; nothing, if the answer goes on. */
  enum Fault {
    LOST,
    DOUBLED,
    DELAYED,
    CUT,
    /** Lost, and the connection stays open. */
    SILENT
  }

  private final Map<Fault, Integer> faults = new ConcurrentHashMap<>();

  LossyNetwork(int target) {
    super(InetAddress.getLoopbackAddress(), 0, target, 256);
  }

  URI address() {
    return URI.create("http://localhost:" + port());
  }

  int faults(Fault fault) {
    return faults.getOrDefault(fault, 0);
  }

  @Override
  void passOn(byte[] answer, OutputStream client) throws IOException {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int kind = random.nextInt(40);
    boolean isWhole =
        new String(answer, StandardCharsets.ISO_8859_1).matches("(?s)HTTP/1.1 .*}")
            && answer.length < 1_000;
    if (!isWhole || kind > 4 || (kind == 4 && random.nextInt(100) > 0)) {
      client.write(answer);
      return;
    }
    Fault fault = Fault.values()[kind];
    faults.merge(fault, 1, Integer::sum);
    switch (fault) {
      case LOST -> throw new IOException("lost");
      case DOUBLED -> {
        client.write(answer);
        client.write(answer);
      }
      case DELAYED -> {
        LockSupport.parkNanos(random.nextLong(100_000_000));
        client.write(answer);
      }
      case CUT -> {
        client.write(Arrays.copyOf(answer, random.nextInt(answer.length)));
        throw new IOException("cut");
      }
      case SILENT -> {}
    }
  }
}
