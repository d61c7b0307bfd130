package org.plantstore.client;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the configuration has to be changed: the address is wrong, the token is not accepted
 * (4001, 4002, 4006), a proxy sends a page of its own, or the certificate is not trusted. A retry
 * is safe, but not expected to help. The message never contains the token.
 */
public final class UnexpectedResponseException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The status code, or 0 if the certificate is not trusted. */
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

  /** {@return the status code of the response, or 0 if the certificate is not trusted} */
  public int status() {
    return status;
  }

  /** {@return the error number, as the service's page of errors lists it, or 0 if there is none} */
  public int error() {
    return error;
  }

  /** {@return the {@code X-Request-Id} of the response, which the service logs, if it has one} */
  public Optional<String> requestId() {
    return Optional.ofNullable(requestId);
  }
}
