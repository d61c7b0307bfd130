package org.plantstore.adapter.http.error;

/** The reference from an answer to the entry of its error in the catalogue. */
public final class ErrorLink {

  /** No address has more, and a reference must not become larger than what it answers. */
  private static final int MAX_DEPTH = 32;

  /** The header that carries it (RFC 8288). */
  public static final String HEADER = "Link";

  private ErrorLink() {}

  /**
   * Returns the value of a {@code Link} header (RFC 8288) to an error's entry.
   *
   * @param path the path that was asked for; the reference is relative to it
   */
  public static String to(ErrorNumber error, String path) {
    return "<" + "../".repeat(depthOf(path)) + "errors#" + error.number() + ">; rel=\"help\"";
  }

  /** Returns how many folders a path is below the base address, or is taken to be. */
  private static int depthOf(String path) {
    long depth = path.chars().skip(1).filter(character -> character == '/').count();
    return (int) Math.min(depth, MAX_DEPTH);
  }
}
