package org.plantstore.adapter.http.tls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micronaut.context.exceptions.ConfigurationException;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.Algorithm;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Which certificates and keys a service starts with, and what it reports of others. */
class TlsFilesTest {

  @TempDir Path folder;

  private TlsFiles files;

  @BeforeEach
  void write_a_pair_that_can_be_used() {
    files = new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
    TestCertificate.write(TestCertificate.issue(TestCertificate.builder()), folder);
  }

  @ParameterizedTest
  @EnumSource(names = {"ecp256", "ecp384", "rsa2048", "ed25519"})
  void pair_of_each_usual_kind_is_read(Algorithm algorithm) throws GeneralSecurityException {
    X509Bundle issued = TestCertificate.issue(TestCertificate.builder().algorithm(algorithm));
    TestCertificate.write(issued, folder);

    KeyStore read = files.read(null).keyStore();

    assertEquals(issued.getKeyPair().getPrivate(), read.getKey("key", null));
    assertEquals(issued.getCertificatePathList(), List.of(read.getCertificateChain("key")));
    assertEquals(
        "[localhost, 127.0.0.1] until " + issued.getCertificate().getNotAfter().toInstant(),
        files.finding());
  }

  @ParameterizedTest
  @CsvSource({
    "ecparam -name prime256v1 -genkey, true",
    "genpkey -algorithm x25519, false",
    "genrsa -traditional, true",
    "genpkey -algorithm rsa -aes128 -pass pass:canary, false",
    "genrsa -traditional -aes128 -passout pass:canary, false"
  })
  @Tag("slow")
  @Tag("newest")
  void key_in_each_form_of_openssl_is_read_if_it_signs_and_has_no_password(
      String command, boolean isRead) throws Exception {
    openssl(command + " -out $");
    if (isRead) {
      openssl("req -x509 -key $ -subj /CN=localhost -out " + files.certificate());
      assertTrue(files.read(null).keyStore().isKeyEntry("key"));
    } else {
      assertRefused("TLS_KEY must be ");
    }
  }

  @Test
  void file_that_cannot_be_read_is_named() throws IOException {
    Files.delete(files.key());
    assertRefused(
        "TLS_KEY must be a file that can be read, but " + files.key() + " cannot: it is no file");

    Files.delete(files.certificate());
    Files.createDirectory(files.certificate());
    assertRefused(
        "TLS_CERTIFICATE must be a file that can be read, but " + files.certificate() + " cannot");
  }

  @Test
  void file_of_another_kind_is_named() throws IOException {
    Files.copy(files.certificate(), files.key(), StandardCopyOption.REPLACE_EXISTING);
    assertRefused(
        "TLS_KEY must be a PEM file of a private key without a password, in PKCS#8, PKCS#1 or SEC 1, but "
            + files.key()
            + " cannot be read: it has no private key");

    for (String text : List.of("", "text", "-----BEGIN CERTIFICATE-----\nAAAA")) {
      Files.writeString(files.certificate(), text);
      assertRefused("TLS_CERTIFICATE must be a PEM file of certificates, but ");
    }
  }

  @Test
  void certificate_that_is_not_valid_now_is_refused() {
    KeyStore keyStore = files.read(null).keyStore();
    Instant now = Instant.now();
    Duration day = Duration.ofDays(1);
    for (CertificateBuilder builder :
        List.of(
            TestCertificate.builder().notAfter(now.minus(day)),
            TestCertificate.builder().notBefore(now.plus(day)))) {
      X509Bundle issued = TestCertificate.issue(builder);
      TestCertificate.write(issued, folder);
      String refusal =
          "TLS_CERTIFICATE must be valid now, but " + files.certificate() + " is from ";
      assertRefused(refusal);
      String content = issued.getCertificatePathPEM() + issued.getPrivateKeyPEM();
      assertRefused(refusal, new TlsCertificate(issued.getCertificate(), keyStore, content));
    }
  }

  @Test
  void chain_in_another_order_is_refused() throws IOException {
    String own = Files.readString(files.certificate());
    String other = TestCertificate.issue(TestCertificate.builder()).getCertificatePEM();
    Files.writeString(files.certificate(), own + "\n" + other);

    assertRefused(
        "TLS_CERTIFICATE must list each certificate before its issuer's certificate; the order in "
            + files.certificate()
            + " differs");
  }

  @Test
  void key_of_another_certificate_is_refused() throws IOException {
    for (CertificateBuilder builder :
        List.of(
            TestCertificate.builder(), TestCertificate.builder().algorithm(Algorithm.ed25519))) {
      Files.writeString(files.key(), TestCertificate.issue(builder).getPrivateKeyPEM());

      assertRefused("TLS_KEY must be the key of the first certificate in TLS_CERTIFICATE, but ");
    }
  }

  private void openssl(String command) throws IOException, InterruptedException {
    String[] words = ("openssl " + command.replace("$", files.key().toString())).split(" ", -1);
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), output);
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
