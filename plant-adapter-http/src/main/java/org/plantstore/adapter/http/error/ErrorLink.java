package org.plantstore.adapter.http.error;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The reference from an answer to the entry of its error in the catalogue. */
public final class ErrorLink {

  /** No address has more, and a reference must not become larger than what it answers. */
  private static final int MAX_DEPTH = 32;

  private ErrorLink() {}

  /**
   * Answers the value of a {@code Link} header (RFC 8288) to an error's entry.
   *
   * @param path the path that was asked for; the reference is relative to it
   */
  public static String to(ErrorNumber error, String path) {
    return "<" + "../".repeat(depthOf(path)) + "errors#" + error.number() + ">; rel=\"help\"";
  }

  /** Answers the error that a {@link #to} leads to, or null if it leads to none. */
  public static @Nullable ErrorNumber linked(@Nullable String link) {
    return link == null
        ? null
        : Arrays.stream(ErrorNumber.values())
            .filter(error -> link.contains("errors#" + error.number() + ">"))
            .findFirst()
            .orElse(null);
  }

  /** Answers how many folders a path is below the base address, or is taken to be. */
  public static int depthOf(String path) {
    long depth = path.chars().skip(1).filter(character -> character == '/').count();
    return (int) Math.min(depth, MAX_DEPTH);
  }
}
