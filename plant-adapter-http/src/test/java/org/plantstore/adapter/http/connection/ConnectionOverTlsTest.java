package org.plantstore.adapter.http.connection;

import io.micronaut.context.annotation.Property;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.micronaut.test.support.TestPropertyProvider;
import java.util.Map;
import org.junit.jupiter.api.TestInstance;
import org.plantstore.adapter.http.Tokens;
import org.plantstore.adapter.http.tls.TestCertificate;

/** The same tests with TLS. */
@MicronautTest
@Property(name = "jwt.secret", value = Tokens.SECRET)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConnectionOverTlsTest extends ConnectionTest implements TestPropertyProvider {

  @Override
  public Map<String, String> getProperties() {
    return TestCertificate.settings();
  }
}
