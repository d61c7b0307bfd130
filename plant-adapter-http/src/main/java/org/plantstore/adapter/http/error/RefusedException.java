package org.plantstore.adapter.http.error;

/** A request that is answered with an error of the catalogue. */
public final class RefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final ErrorNumber error;

  public RefusedException(ErrorNumber error) {
    this(error, error.description());
  }

  public RefusedException(ErrorNumber error, String message) {
    // A refusal is an answer, not a fault: nobody reads its stack trace, and collecting it costs.
    super(message, null, false, false);
    this.error = error;
  }

  public ErrorNumber error() {
    return error;
  }
}
