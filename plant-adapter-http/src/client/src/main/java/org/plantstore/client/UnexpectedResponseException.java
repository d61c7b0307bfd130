package org.plantstore.client;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown for a response that is none of a configured plant store to a valid call: the address is
 * wrong, the token is not accepted (4001, 4002, 4006), a proxy has sent a page of its own, the
 * certificate is not trusted, or the service has failed (5001). A person has to change that; a
 * retry is safe, but not expected to help. The message never contains the token.
 */
public final class UnexpectedResponseException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The status code, or 0 if there is none. */
  private final int status;

  /** The error number, or 0 if there is none. */
  private final int error;

  /** The id of the request, or null if there is none. */
  private final @Nullable String requestId;

  UnexpectedResponseException(String message, int status, int error, @Nullable String requestId) {
    super(message);
    this.status = status;
    this.error = error;
    this.requestId = requestId;
  }

  /**
   * Returns the status code of the response.
   *
   * @return the status code, or 0 if the certificate is not trusted
   */
  public int status() {
    return status;
  }

  /**
   * Returns the error number of the response.
   *
   * @return the number, as the service's page of errors lists it, or 0 if the response has none
   */
  public int error() {
    return error;
  }

  /**
   * Returns the id with which the service has logged the request.
   *
   * @return the {@code X-Request-Id} of the response, or nothing if it has none
   */
  public Optional<String> requestId() {
    return Optional.ofNullable(requestId);
  }
}
