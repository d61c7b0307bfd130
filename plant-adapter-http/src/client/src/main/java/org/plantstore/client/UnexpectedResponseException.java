package org.plantstore.client;

/**
 * Thrown when a call fails because of a configuration error. For example, the address may be wrong,
 * the service may reject the token (errors 4001, 4002, and 4006), a proxy may respond with its own
 * page, or the client may not trust the service's certificate. Retrying is safe but unlikely to
 * help. The message never contains the token. If there was a response, the message contains its
 * {@code X-Request-Id}, unless the response quotes the token.
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

  /** {@return the status code of the response, or 0 if the TLS connection failed} */
  public int status() {
    return status;
  }

  /** {@return the error number in the response, or 0 if the response contains none} */
  public int error() {
    return error;
  }
}
