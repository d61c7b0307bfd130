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
import java.security.Provider;
import java.security.Security;
import java.security.cert.Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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
import reactor.core.publisher.Flux;

/** Certificates that change while the service runs. */
class RenewedCertificateTest {

  @TempDir Path folder;

  /** Callers come over new connections and over one that they keep. */
  @Test
  @Tag("slow")
  @Tag("newest")
  void renewed_certificate_is_taken_up_without_a_failed_request() throws Exception {
    Path link =
        Files.createSymbolicLink(
            folder.resolve("current"),
            version("1", TestCertificate.issue(TestCertificate.builder())));
    ExecutorService callers = Executors.newCachedThreadPool();
    AtomicBoolean done = new AtomicBoolean();
    String request = createRequest("Connection: close\r\n");
    Map<String, Object> settings =
        Map.of(
            "jwt.secret", Tokens.SECRET,
            "tls.certificate", link.resolve("tls.crt").toString(),
            "tls.key", link.resolve("tls.key").toString());
    try (EmbeddedServer server = ApplicationContext.run(EmbeddedServer.class, settings)) {
      CountDownLatch begun = new CountDownLatch(20);
      List<Future<Void>> calls =
          Stream.<Callable<Integer>>of(
                  () -> statuses(ServerTest.send(server, request)).get(0),
                  () -> Answer.create(server.getURI(), Tokens.valid()).status())
              .map(call -> callers.submit(() -> repeat(call, begun, done)))
              .toList();
      begun.await();

      X509Bundle second = TestCertificate.issue(TestCertificate.builder().rsa2048());
      Files.writeString(link.resolve("tls.key"), second.getPrivateKeyPEM());
      Files.writeString(link.resolve("tls.crt"), second.getCertificatePathPEM());
      awaitServed(server, second);
      X509Bundle third = TestCertificate.issue(TestCertificate.builder());
      Path next =
          Files.createSymbolicLink(folder.resolve("next"), version("3", third)); // as on Kubernetes
      Files.move(next, link, StandardCopyOption.ATOMIC_MOVE);
      awaitServed(server, third);

      done.set(true);
      for (Future<Void> call : calls) {
        call.get();
      }
    } finally {
      callers.shutdownNow();
    }
  }

  @Test
  void files_that_do_not_fit_together_change_nothing_and_are_reported_once_an_hour() {
    X509Bundle first = TestCertificate.issue(TestCertificate.builder());
    TlsFiles files = write(first);
    RenewedCertificate certificate = new RenewedCertificate(files);
    try (Log log = new Log(RenewedCertificate.class.getName())) {
      Instant yesterday = Instant.now().minus(Duration.ofDays(1));
      write(TestCertificate.issue(TestCertificate.builder().notAfter(yesterday)));
      for (int second = 1; second < 3_600 + 10; second++) {
        certificate.renew();
      }

      assertEquals(first.getCertificate(), served(certificate));
      assertEquals(
          "The certificate is not renewed; the one in use is for [localhost, 127.0.0.1] until "
              + first.getCertificate().getNotAfter().toInstant()
              + ": TLS_CERTIFICATE must be valid now, but "
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

  @Test
  void key_signs_only_when_a_file_has_changed() {
    X509Bundle issued = TestCertificate.issue(TestCertificate.builder());
    RenewedCertificate certificate = new RenewedCertificate(write(issued));
    AtomicInteger signatures = new AtomicInteger();
    Provider counter = // which has no algorithm, and is asked first for each
        new Provider("counter", "1", "") {
          @Override
          public @Nullable Service getService(String type, String algorithm) {
            signatures.addAndGet(type.equals("Signature") ? 1 : 0);
            return null;
          }
        };
    Security.insertProviderAt(counter, 1);
    try {
      certificate.renew();
      write(issued);
      certificate.renew();
      assertEquals(0, signatures.get());

      write(TestCertificate.issue(TestCertificate.builder()));
      signatures.set(0); // the issuer has signed, too
      certificate.renew();
      assertTrue(signatures.get() > 0, "the changed key signs");
    } finally {
      Security.removeProvider(counter.getName());
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

  private Path version(String name, X509Bundle certificate) throws IOException {
    Path version = Files.createDirectory(folder.resolve(name));
    TestCertificate.write(certificate, version);
    return version;
  }

  private static Void repeat(Callable<Integer> call, CountDownLatch begun, AtomicBoolean done)
      throws Exception {
    while (!done.get()) {
      assertEquals(200, call.call());
      begun.countDown();
    }
    return null;
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
