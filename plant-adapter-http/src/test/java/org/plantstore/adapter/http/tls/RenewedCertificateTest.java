package org.plantstore.adapter.http.tls;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.plantstore.adapter.http.ServerTest.createRequest;
import static org.plantstore.adapter.http.ServerTest.statuses;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.runtime.server.EmbeddedServer;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.plantstore.adapter.http.Answer;
import org.plantstore.adapter.http.ServerTest;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.fixture.TestCertificate;

/** Tests which certificates and keys are accepted, and how renewed certificates are used. */
class RenewedCertificateTest {

  private static final String UNUSABLE_KEY =
      "TLS_KEY must name a PEM file with the private key of the first certificate in"
          + " TLS_CERTIFICATE, but ";

  private final Instant yesterday = Instant.now().minus(Duration.ofDays(1));
  private final Path folder;
  private final TlsFiles files;

  RenewedCertificateTest(@TempDir Path folder) throws IOException {
    this.folder = folder;
    files = filesIn(folder);
    write(TestCertificate.issue(), folder);
  }

  private static TlsFiles filesIn(Path folder) {
    return new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
  }

  private static void write(X509Bundle certificate, Path folder) throws IOException {
    TlsFiles files = filesIn(folder);
    Files.writeString(files.certificate(), certificate.getCertificatePathPEM());
    Files.writeString(files.key(), certificate.getPrivateKeyPEM());
  }

  /** One caller opens a connection for each request, and another one reuses its connection. */
  @Test
  @Tag("slow")
  @Tag("newest")
  void certificate_is_renewed_without_a_failed_request() throws Exception {
    Path first = Files.createDirectory(folder.resolve("1"));
    Path second = Files.createDirectory(folder.resolve("2"));
    write(TestCertificate.issue(), first);
    Path link = Files.createSymbolicLink(folder.resolve("current"), first);
    TlsFiles linkedFiles = filesIn(link);
    Map<String, Object> settings =
        Map.of(
            "jwt.secret", Tokens.SECRET,
            "tls.certificate", linkedFiles.certificate(),
            "tls.key", linkedFiles.key());
    String request = createRequest("Connection: close\r\n");
    AtomicBoolean done = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(2);
    try (EmbeddedServer server = ApplicationContext.run(EmbeddedServer.class, settings)) {
      List<CompletableFuture<Void>> callers =
          Stream.<Callable<Integer>>of(
                  () -> statuses(ServerTest.send(server, request)).get(0),
                  () -> Answer.create(server.getURI(), Tokens.valid()).status())
              .map(call ->
                  CompletableFuture.runAsync(
                      () -> repeat(call, started, done), task -> new Thread(task).start()))
              .toList();
      started.await();

      X509Bundle inPlace = TestCertificate.issue(TestCertificate.builder().rsa2048());
      write(inPlace, first);
      awaitServed(server, inPlace);
      X509Bundle linked = TestCertificate.issue();
      write(linked, second);
      Path next = Files.createSymbolicLink(folder.resolve("next"), second);
      Files.move(next, link, StandardCopyOption.ATOMIC_MOVE); // as on Kubernetes
      awaitServed(server, linked);

      done.set(true);
      callers.forEach(CompletableFuture::join);
    }
  }

  private static void repeat(Callable<Integer> call, CountDownLatch started, AtomicBoolean done) {
    assertEquals(200, assertDoesNotThrow(call::call));
    started.countDown();
    while (!done.get()) {
      assertEquals(200, assertDoesNotThrow(call::call));
    }
  }

  private static void awaitServed(EmbeddedServer server, X509Bundle certificate)
      throws IOException {
    boolean isServed = false;
    while (!isServed) {
      try (SSLSocket socket = (SSLSocket) ServerTest.connect(server)) {
        isServed =
            certificate.getCertificate().equals(socket.getSession().getPeerCertificates()[0]);
      }
      LockSupport.parkNanos(50_000_000); // leaves the processor to the callers
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ecp256", "rsa2048", "ed25519"})
  void certificate_and_key_of_each_common_algorithm_are_read_even_from_one_file(Algorithm algorithm)
      throws Exception {
    X509Bundle issued = TestCertificate.issue(TestCertificate.builder().algorithm(algorithm));
    write(issued, folder);

    KeyStore read = files.read(null).keyStore();

    assertEquals(issued.getKeyPair().getPrivate(), read.getKey("key", null));
    assertEquals(issued.getCertificatePathList(), List.of(read.getCertificateChain("key")));
    assertEquals(
        "[localhost, 127.0.0.1], valid until " + issued.getCertificate().getNotAfter().toInstant(),
        files.finding());
    String key = Files.readString(files.key());
    Files.writeString(files.certificate(), key + Files.readString(files.certificate()));
    TlsFiles both = new TlsFiles(files.certificate(), files.certificate());
    assertTrue(both.read(null).keyStore().isKeyEntry("key"));
  }

  @ParameterizedTest
  @CsvSource({
    "ecparam -name prime256v1 -genkey, ''",
    "genrsa -traditional, ''",
    "genpkey -algorithm rsa -aes128 -pass pass:canary, is protected by a password;",
    "genrsa -traditional -aes128 -passout pass:canary, is protected by a password;",
    "genpkey -algorithm ed25519 -outform DER, contains no complete private key",
    "req -new -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=localhost, contains no complete private key"
  })
  @Tag("slow")
  @Tag("newest")
  void key_in_every_openssl_format_is_read_unless_it_has_a_password(String command, String reason)
      throws Exception {
    openssl(command + " -out $");
    if (reason.isEmpty()) {
      openssl("req -x509 -key $ -subj /CN=localhost -out " + files.certificate());
      assertTrue(files.read(null).keyStore().isKeyEntry("key"));
    } else {
      assertRefused(UNUSABLE_KEY + files.key() + " " + reason);
    }
  }

  private void openssl(String command) throws IOException, InterruptedException {
    String[] words = ("openssl " + command.replace("$", files.key().toString())).split(" ", -1);
    Process process =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    assertEquals(0, process.waitFor(), command);
  }

  @Test
  void message_names_a_file_that_is_unreadable_or_has_the_wrong_content() throws IOException {
    Files.copy(files.certificate(), files.key(), StandardCopyOption.REPLACE_EXISTING);
    String noKey =
        files.key() + " contains no complete private key in PKCS #8, PKCS #1, or SEC 1 format";
    assertRefused(UNUSABLE_KEY + noKey);
    Files.writeString(files.key(), "-----BEGIN PRIVATE KEY-----\nAAAA");
    assertRefused(UNUSABLE_KEY + noKey);
    String incomplete = "-----BEGIN CERTIFICATE-----\nAAAA";
    String secondIncomplete = Files.readString(files.certificate()) + incomplete;
    for (String text : List.of("", incomplete, secondIncomplete)) {
      Files.writeString(files.certificate(), text);
      assertRefused("TLS_CERTIFICATE must name a PEM file with complete certificates, but ");
    }
    Files.writeString(
        files.certificate(), "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n");
    assertRefused(
        "TLS_CERTIFICATE must name a PEM file with complete certificates, but "
            + files.certificate()
            + " cannot be read: it contains no certificate, or an incomplete one");
    Files.delete(files.key());
    assertRefused(
        "TLS_KEY must name a readable file, but "
            + (files.key() + " is missing or is not a regular file"));
  }

  @Test
  void key_of_another_certificate_is_refused() throws IOException {
    for (Algorithm algorithm : List.of(Algorithm.ecp256, Algorithm.ed25519)) {
      CertificateBuilder other = TestCertificate.builder().algorithm(algorithm);
      Files.writeString(files.key(), TestCertificate.issue(other).getPrivateKeyPEM());
      assertRefused(
          UNUSABLE_KEY + files.key() + " contains the private key of another certificate");
    }
  }

  @Test
  void certificate_that_is_not_valid_now_is_refused_even_if_it_was_valid_at_startup()
      throws Exception {
    KeyStore keyStore = files.read(null).keyStore();
    Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
    String refusal =
        "TLS_CERTIFICATE must name a file with certificates that are valid now, but CN=";
    String ownRefusal = refusal + "service in " + files.certificate() + " is valid from ";
    writeChain(TestCertificate.issue(TestCertificate.builder().notBefore(tomorrow)));
    assertRefused(ownRefusal);

    X509Bundle expired = TestCertificate.issue(TestCertificate.builder().notAfter(yesterday));
    write(expired, folder);
    String content = expired.getCertificatePathPEM() + expired.getPrivateKeyPEM();
    assertRefused(
        ownRefusal, new TlsCertificate(List.of(expired.getCertificate()), 0, keyStore, content));

    X509Bundle issuer = intermediate(yesterday);
    writeChain(TestCertificate.builder().buildIssuedBy(issuer), issuer);
    assertRefused(refusal + "intermediate in " + files.certificate() + " is valid from ");
  }

  @Test
  void chain_is_served_in_order_without_other_certificates_and_expires_with_the_first_one()
      throws Exception {
    Instant end = Instant.now().plus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);
    X509Bundle issuer = intermediate(end);
    X509Bundle own = TestCertificate.builder().buildIssuedBy(issuer);
    writeChain(own, TestCertificate.issue(), own, TestCertificate.AUTHORITY, issuer);

    assertEquals(
        Stream.of(own, issuer, TestCertificate.AUTHORITY).map(X509Bundle::getCertificate).toList(),
        List.of(files.read(null).keyStore().getCertificateChain("key")));
    assertEquals(
        "[localhost, 127.0.0.1], valid until " + end + "; unused certificates outside the chain: 2",
        files.finding());
  }

  private static X509Bundle intermediate(Instant end) {
    return TestCertificate.issue(
        new CertificateBuilder()
            .ecp256()
            .subject("CN=intermediate")
            .setIsCertificateAuthority(true)
            .notAfter(end));
  }

  /** Writes the certificates, and the key of the first one. */
  private void writeChain(X509Bundle... certificates) throws IOException {
    write(certificates[0], folder);
    Files.write(
        files.certificate(), Stream.of(certificates).map(X509Bundle::getCertificatePEM).toList());
  }

  private void assertRefused(String start) {
    assertRefused(start, null);
  }

  private void assertRefused(String start, @Nullable TlsCertificate known) {
    String message =
        String.valueOf(
            assertThrows(ConfigurationException.class, () -> files.read(known)).getMessage());
    assertTrue(message.startsWith(start), message);
    assertFalse(message.contains("null"), message);
    assertEquals(1, message.lines().count(), message);
  }
}
