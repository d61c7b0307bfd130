package org.plantstore.adapter.http.connection;

import io.micronaut.test.support.TestPropertyProvider;
import java.util.Map;
import org.junit.jupiter.api.TestInstance;
import org.plantstore.adapter.http.tls.TestCertificate;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
interface OverTls extends TestPropertyProvider {

  @Override
  default Map<String, String> getProperties() {
    return TestCertificate.settings();
  }
}
