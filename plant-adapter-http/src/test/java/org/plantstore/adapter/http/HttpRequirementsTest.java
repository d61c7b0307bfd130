package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.tls.TestCertificate;

/** The report on this adapter for the command {@code check}. */
class HttpRequirementsTest {

  private static final String BEFORE =
      "limits\tat most N connections, with a limit of M open files\n";
  private static final String BEHIND =
      "tokens\tsigned by the key in JWT_SECRET; any issuer; any audience\n";

  @Test
  void names_and_expiry_of_the_certificate_are_told() {
    assertEquals(
        "0 " + BEFORE + "certificate\tfor [localhost, 127.0.0.1] until DATE\n" + BEHIND,
        check(TestCertificate.settings()).replaceAll("until [-0-9:TZ.]+", "until DATE"));
  }

  @Test
  void certificate_that_is_not_wanted_is_no_fault() {
    assertEquals(
        "0 "
            + BEFORE
            + "certificate\tnone; a proxy in front of the service must terminate TLS\n"
            + BEHIND,
        check(Map.of()));
  }

  @Test
  void each_part_that_cannot_work_is_told() {
    Map<String, String> settings = new HashMap<>(TestCertificate.settings());
    String key = String.valueOf(TestCertificate.settings().get("tls.key"));
    settings.putAll(Map.of("max.connections", "0", "tls.key", key, "jwt.secret", "short"));

    assertEquals(
        String.format(
            Locale.ROOT,
            """
            1 limits\tMAX_CONNECTIONS must be a whole number from 1 to 999999999, but is "0"
            certificate\tTLS_KEY must be the key of the first certificate in TLS_CERTIFICATE, but \
            %s is not that of %s
            tokens\tJWT_SECRET must have at least 32 bytes, but has 5
            """,
            key,
            settings.get("tls.certificate")),
        check(settings));
  }

  private static String check(Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(Map.of("jwt.secret", Tokens.SECRET));
    all.putAll(settings);
    StringWriter written = new StringWriter();
    PrintWriter writer = new PrintWriter(written, true);
    String[] arguments =
        all.entrySet().stream()
            .map(entry -> "--" + entry.getKey() + "=" + entry.getValue())
            .toArray(String[]::new);
    int code = new HttpRequirements().run(writer, writer, arguments);
    String report = written.toString().replaceFirst("most [0-9]+", "most N");
    return code + " " + report.replaceFirst("of [0-9]+ open", "of M open");
  }
}
