package org.plantstore.adapter.http.error;

/** Thrown to refuse a request with an error of the catalog. Immutable. */
public class RefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final ErrorNumber error;

  public RefusedException(ErrorNumber error) {
    this(error, error.description());
  }

  public RefusedException(ErrorNumber error, String message) {
    super(message, null, false, false); // no stack trace: a refusal is no fault of the service
    this.error = error;
  }

  public ErrorNumber error() {
    return error;
  }
}
