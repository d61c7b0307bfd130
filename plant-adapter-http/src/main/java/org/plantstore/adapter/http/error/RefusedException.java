package org.plantstore.adapter.http.error;

/** Thrown to reject a request with an error from the catalog. Immutable. */
public class RefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final ErrorNumber error;

  /** Creates an exception whose message is the error's description. */
  public RefusedException(ErrorNumber error) {
    this(error, error.description());
  }

  /** Creates an exception with a message for the caller. The message must not contain a secret. */
  public RefusedException(ErrorNumber error, String message) {
    super(message, null, false, false); // no stack trace, because the service is not at fault
    this.error = error;
  }

  /** Returns the error that the response reports. */
  public ErrorNumber error() {
    return error;
  }
}
