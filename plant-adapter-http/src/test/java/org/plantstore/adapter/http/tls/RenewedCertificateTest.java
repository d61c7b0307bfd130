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
import java.security.cert.Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.Log;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.renewal.RenewedFiles;
import reactor.core.publisher.Flux;

class RenewedCertificateTest {

  @TempDir Path folder;

  /** Callers come over new connections and over one that they keep. */
  @Test
  @Tag("slow")
  @Tag("newest")
  void renewed_certificate_is_taken_up_without_a_failed_request() throws Exception {
    X509Bundle first = TestCertificate.issue(TestCertificate.builder());
    Path link =
        Files.createSymbolicLink(
            folder.resolve("current"), TestCertificate.write(first, folder.resolve("1")));
    AtomicBoolean done = new AtomicBoolean();
    String request = createRequest("Connection: close\r\n");
    Map<String, Object> settings =
        Map.of(
            "jwt.secret", Tokens.SECRET,
            "tls.certificate", link.resolve("tls.crt").toString(),
            "tls.key", link.resolve("tls.key").toString());
    try (EmbeddedServer server = ApplicationContext.run(EmbeddedServer.class, settings)) {
      List<CompletableFuture<Integer>> callers =
          Stream.<Callable<Integer>>of(
                  () -> statuses(ServerTest.send(server, request)).get(0),
                  () -> Answer.create(server.getURI(), Tokens.valid()).status())
              .map(call ->
                  CompletableFuture.supplyAsync(
                      () -> repeat(call, done), task -> new Thread(task).start()))
              .toList();

      X509Bundle second = TestCertificate.issue(TestCertificate.builder().rsa2048());
      Files.writeString(link.resolve("tls.key"), second.getPrivateKeyPEM());
      Files.writeString(link.resolve("tls.crt"), second.getCertificatePathPEM());
      awaitServed(server, second);
      X509Bundle third = TestCertificate.issue(TestCertificate.builder());
      Path version = TestCertificate.write(third, folder.resolve("3")); // as on Kubernetes
      Path next = Files.createSymbolicLink(folder.resolve("next"), version);
      Files.move(next, link, StandardCopyOption.ATOMIC_MOVE);
      awaitServed(server, third);

      done.set(true);
      callers.forEach(caller -> assertTrue(caller.join() > 0, "calls"));
    }
  }

  @Test
  void same_or_unusable_files_change_nothing_and_unusable_ones_are_reported_once_an_hour() {
    X509Bundle first = TestCertificate.issue(TestCertificate.builder());
    TlsFiles files = write(first);
    RenewedCertificate certificate = new RenewedCertificate(files);
    try (Log log = new Log(RenewedFiles.class.getName())) {
      write(first);
      certificate.renew();
      assertEquals(List.of(), log.await(0));

      Instant yesterday = Instant.now().minus(Duration.ofDays(1));
      write(TestCertificate.issue(TestCertificate.builder().notAfter(yesterday)));
      for (int second = 1; second < 3_600 + 10; second++) {
        certificate.renew();
      }

      assertEquals(first.getCertificate(), served(certificate));
      assertEquals(
          "TLS_CERTIFICATE cannot be renewed; [localhost, 127.0.0.1] until "
              + first.getCertificate().getNotAfter().toInstant()
              + " stays in use: TLS_CERTIFICATE must be valid now, but "
              + files.certificate()
              + " is from ",
          log.await(1).get(0).getFormattedMessage().replaceFirst("(?<= is from ).*", ""));
      assertEquals(1, log.await(1).size());

      X509Bundle renewed = TestCertificate.issue(TestCertificate.builder());
      write(renewed);
      certificate.renew();

      assertEquals(renewed.getCertificate(), served(certificate));
      assertEquals(2, log.await(2).size());
    }
  }

  private TlsFiles write(X509Bundle certificate) {
    TestCertificate.write(certificate, folder);
    return new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
  }

  private static @Nullable Certificate served(RenewedCertificate certificate) {
    KeyStore store = Objects.requireNonNull(Flux.from(certificate.getKeyStore()).blockFirst());
    return assertDoesNotThrow(() -> store.getCertificate("key"));
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
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    Certificate served = null;
    while (!certificate.getCertificate().equals(served)) {
      assertTrue(System.nanoTime() < deadline, "still served: " + served);
      try (SSLSocket socket = (SSLSocket) ServerTest.connect(server)) {
        served = socket.getSession().getPeerCertificates()[0];
      }
    }
  }
}
