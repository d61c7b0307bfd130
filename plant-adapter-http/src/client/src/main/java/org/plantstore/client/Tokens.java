package org.plantstore.client;

import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Keeps a token until it is refused. Safe for use by many threads. */
final class Tokens {

  private final Supplier<String> supplier;
  private volatile @Nullable String token;

  Tokens(Supplier<String> supplier) {
    this.supplier = supplier;
  }

  /** Returns the token that is kept, unless it is the refused one. */
  @Nullable String kept(@Nullable String refused) {
    String current = token;
    return current == null || current.equals(refused) ? null : current;
  }

  /** Returns the kept token, or one that is supplied for a call, which waits for other calls. */
  synchronized String obtain(@Nullable String refused, Future<?> call) {
    String current = kept(refused);
    if (current == null && !call.isDone()) {
      current = supplier.get();
      // RFC 6750, section 2.1. An exception of the HTTP client would contain the token.
      if (current == null || !current.matches("[A-Za-z0-9._~+/-]+=*")) {
        throw new IllegalArgumentException(
            "the supplied token must not be null, empty or have characters such as line breaks");
      }
      token = current;
    }
    return String.valueOf(current); // of a call that has ended, nobody uses it
  }
}
