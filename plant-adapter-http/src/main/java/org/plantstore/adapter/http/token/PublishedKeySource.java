package org.plantstore.adapter.http.token;

import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.plantstore.adapter.http.error.RefusedException;

/** Where published keys come from. Safe for use by many threads. */
interface PublishedKeySource extends JWKSource<SecurityContext> {

  /** Returns the keys that are known now, the same object until there are others. */
  JWKSet current();

  /**
   * Completes when a key is known, or when waiting for it cannot help.
   *
   * @throws RefusedException if too many callers wait for unknown keys
   */
  CompletableFuture<Void> search(JWKSelector selector, Executor executor);
}
