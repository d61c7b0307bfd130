package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.proc.SecurityContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.renewal.RenewedFiles;

/** The published keys in a file. Safe for use by many threads. */
record FileKeys(RenewedFiles<PublishedKeys> file) implements PublishedKeySource {

  static FileKeys of(URI address) {
    return new FileKeys(new RenewedFiles<>("JWT_JWKS_URL", read(address), known -> read(address)));
  }

  /**
   * Reads the key set.
   *
   * @throws ConfigurationException if it has no usable key
   */
  static PublishedKeys read(URI address) {
    String reason;
    try {
      return PublishedKeys.parse(Files.readString(Path.of(address)));
    } catch (IOException e) {
      reason = e.getClass().getSimpleName();
    } catch (ParseException | RuntimeException | StackOverflowError e) {
      reason = ForeignText.printable(String.valueOf(e.getMessage()), 1_000);
    }
    throw new ConfigurationException(
        "JWT_JWKS_URL must be a file with a key set, but " + address + " is not: " + reason);
  }

  @Override
  public JWKSet current() {
    return file.current().usable();
  }

  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context) {
    return selector.select(current());
  }

  @Override
  public CompletableFuture<Void> search(JWKSelector selector, Executor executor) {
    return CompletableFuture.completedFuture(null);
  }
}
