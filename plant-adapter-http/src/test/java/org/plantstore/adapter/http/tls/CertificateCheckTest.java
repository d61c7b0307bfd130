package org.plantstore.adapter.http.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the command {@code check} says of a certificate. */
class CertificateCheckTest {

  @Test
  void names_and_expiry_are_told() {
    Map<String, String> settings = TestCertificate.settings();

    assertEquals(
        "0 certificate: for [localhost, 127.0.0.1] until DATE, which is N days\n",
        check(settings)
            .replaceAll("until [-0-9:TZ.]+", "until DATE")
            .replaceAll("\\d+ days", "N days"));
  }

  @Test
  void certificate_that_is_not_wanted_is_no_fault() {
    assertEquals("0 certificate: none, so TLS must end in front of the service\n", check(Map.of()));
  }

  @Test
  void key_of_another_certificate_is_refused() {
    Map<String, String> settings = TestCertificate.settings();
    String certificate = String.valueOf(TestCertificate.settings().get("tls.certificate"));
    String key = String.valueOf(settings.get("tls.key"));

    assertEquals(
        "1 certificate: TLS_KEY must be the key of the first certificate in TLS_CERTIFICATE, but "
            + "%s is not that of %s\n".formatted(key, certificate),
        check(Map.of("tls.certificate", certificate, "tls.key", key)));
  }

  private static String check(Map<String, String> settings) {
    StringWriter written = new StringWriter();
    PrintWriter writer = new PrintWriter(written, true);
    Stream<String> arguments =
        settings.entrySet().stream().map(entry -> "--" + entry.getKey() + "=" + entry.getValue());
    int code = new CertificateCheck().run(writer, writer, arguments.toArray(String[]::new));
    return code + " " + written;
  }
}
