package org.plantstore.adapter.http.tls;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.ServerTest.createRequest;
import static org.plantstore.adapter.http.ServerTest.statuses;

import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.Tokens;
import reactor.core.publisher.Flux;

class RenewedCertificateTest {

  @TempDir Path folder;

  /** Callers come over new connections and over one that they keep. */
  @Test
  @Tag("slow")
  @Tag("newest")
  void renewed_certificate_is_taken_up_without_a_failed_request() throws Exception {
    Path first = Files.createDirectory(folder.resolve("1"));
    Path second = Files.createDirectory(folder.resolve("2"));
    TestCertificate.write(TestCertificate.issue(), first);
    Path link = Files.createSymbolicLink(folder.resolve("current"), first);
    Map<String, Object> settings = new HashMap<>(Map.of("jwt.secret", Tokens.SECRET));
    settings.putAll(
        TestCertificate.settings(new TlsFiles(link.resolve("tls.crt"), link.resolve("tls.key"))));
    String request = createRequest("Connection: close\r\n");
    AtomicBoolean done = new AtomicBoolean();
    try (EmbeddedServer server = ApplicationContext.run(EmbeddedServer.class, settings)) {
      List<CompletableFuture<Integer>> callers =
          Stream.<Callable<Integer>>of(
                  () -> statuses(ServerTest.send(server, request)).get(0),
                  () -> Answer.create(server.getURI(), Tokens.valid()).status())
              .map(call ->
                  CompletableFuture.supplyAsync(
                      () -> repeat(call, done), task -> new Thread(task).start()))
              .toList();

      X509Bundle inPlace = TestCertificate.issue(TestCertificate.builder().rsa2048());
      TestCertificate.write(inPlace, first);
      awaitServed(server, inPlace);
      X509Bundle linked = TestCertificate.issue();
      TestCertificate.write(linked, second);
      Path next = Files.createSymbolicLink(folder.resolve("next"), second);
      Files.move(next, link, StandardCopyOption.ATOMIC_MOVE); // as on Kubernetes
      awaitServed(server, linked);

      done.set(true);
      callers.forEach(caller -> assertTrue(caller.join() > 0, "calls"));
    }
  }

  private static int repeat(Callable<Integer> call, AtomicBoolean done) {
    int calls = 0;
    for (; !done.get(); calls++) {
      assertEquals(200, assertDoesNotThrow(call::call));
    }
    return calls;
  }

  private static void awaitServed(EmbeddedServer server, X509Bundle certificate)
      throws IOException {
    boolean isServed = false;
    while (!isServed) {
      try (SSLSocket socket = (SSLSocket) ServerTest.connect(server)) {
        isServed =
            certificate.getCertificate().equals(socket.getSession().getPeerCertificates()[0]);
      }
    }
  }

  @Test
  void files_that_are_not_a_pair_yet_change_nothing() throws Exception {
    X509Bundle first = TestCertificate.issue();
    X509Bundle second = TestCertificate.issue();
    TlsFiles files = TestCertificate.write(first, folder);
    RenewedCertificate certificate = new RenewedCertificate(files);

    Files.writeString(files.certificate(), second.getCertificatePathPEM());
    certificate.renew();
    assertServed(first, certificate);

    Files.writeString(files.key(), second.getPrivateKeyPEM());
    certificate.renew();
    assertServed(second, certificate);
  }

  private static void assertServed(X509Bundle expected, RenewedCertificate certificate)
      throws KeyStoreException {
    KeyStore store = Objects.requireNonNull(Flux.from(certificate.getKeyStore()).blockFirst());
    assertEquals(expected.getCertificate(), store.getCertificate("key"));
  }
}
