package org.plantstore.client;

/**
 * Thrown when the configuration has to be changed: the address is wrong, the token is not accepted
 * (4001, 4002, 4006), a proxy sends a page of its own, or no TLS connection can be made because,
 * for example, the certificate is not trusted. A retry is safe, but not expected to help. The
 * message contains the {@code X-Request-Id} of the response, and never the token.
 */
public final class UnexpectedResponseException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int status;
  private final int error;

  UnexpectedResponseException(String message, int status, int error) {
    super(message);
    this.status = status;
    this.error = error;
  }

  /** {@return the status code of the response, or 0 if there was no TLS connection} */
  public int status() {
    return status;
  }

  /** {@return the error number, as the service's page of errors lists it, or 0 if there is none} */
  public int error() {
    return error;
  }
}
