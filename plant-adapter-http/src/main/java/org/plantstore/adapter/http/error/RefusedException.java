package org.plantstore.adapter.http.error;

/** Thrown to refuse a request with an error from the catalog. Immutable. */
public class RefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final ErrorNumber error;

  /** Creates a refusal whose message is the error's description. */
  public RefusedException(ErrorNumber error) {
    this(error, error.description());
  }

  /** Creates a refusal with a message for the caller, which must not contain a secret. */
  public RefusedException(ErrorNumber error, String message) {
    super(message, null, false, false); // without a stack trace, because the service has no fault
    this.error = error;
  }

  /** Returns the error with which the service responds. */
  public ErrorNumber error() {
    return error;
  }
}
