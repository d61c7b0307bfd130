package org.plantstore.adapter.http.error;

import static io.micronaut.http.HttpStatus.BAD_REQUEST;
import static io.micronaut.http.HttpStatus.FORBIDDEN;
import static io.micronaut.http.HttpStatus.INTERNAL_SERVER_ERROR;
import static io.micronaut.http.HttpStatus.SERVICE_UNAVAILABLE;
import static io.micronaut.http.HttpStatus.UNAUTHORIZED;

import io.micronaut.http.HttpStatus;

/**
 * The error catalog. A number never changes its meaning. Its first digit says where the fault lies:
 * in the body as a whole (1), in a field (2), in a conflict with a stored plant (3), in the token,
 * the address or the head of the request (4), or in the service (5). {@code errors.html} explains
 * the cause and cure of each error.
 */
public enum ErrorNumber {
  MALFORMED_JSON(
      1001,
      BAD_REQUEST,
      "The body must be one JSON object in UTF-8 (RFC 8259), without repeated members and without"
          + " anything after it."),
  NOT_AN_OBJECT(1002, BAD_REQUEST, "The body must be a JSON object."),
  CONTENT_TYPE(1003, BAD_REQUEST, "The body must have the Content-Type application/json."),
  CONTENT_ENCODING(1004, BAD_REQUEST, "The body must be sent as it is, without Content-Encoding."),
  BODY_TOO_LARGE(1005, BAD_REQUEST, "The body must not be larger than the limit."),

  ID(2001, BAD_REQUEST, "id is required and must be an integer of 64 bits."),
  NAME(2002, BAD_REQUEST, "name is required and must be a string of Unicode text."),
  TAG(2003, BAD_REQUEST, "tag must be a string of Unicode text, null or absent."),

  ID_TAKEN(
      3001, BAD_REQUEST, "The id is taken by a plant with another name or tag; choose another id."),

  NO_TOKEN(
      4001, UNAUTHORIZED, "The request must have one Authorization header with a bearer token."),
  INVALID_TOKEN(
      4002,
      UNAUTHORIZED,
      "The bearer token is not valid for this service; correct the fault that the message names, or"
          + " obtain a new token."),
  NOT_FOUND(
      4003,
      HttpStatus.NOT_FOUND,
      "Nothing is at this path; the only operation is POST /plants, and the path is in lower case."
          + " Plants cannot be read, changed or deleted."),
  METHOD_NOT_ALLOWED(
      4004,
      HttpStatus.METHOD_NOT_ALLOWED,
      "This path does not allow this method; the only operation is POST /plants. Plants cannot be"
          + " read, changed or deleted."),
  MALFORMED_REQUEST(
      4005,
      BAD_REQUEST,
      "The request must be well-formed HTTP/1.1 (RFC 9112), with at most 16 KiB for its first"
          + " line, and as much for at most 100 headers."),
  MISSING_CLAIM(
      4006,
      FORBIDDEN,
      "The bearer token is valid, but must have a claim that it lacks; obtain one that has it."),
  ORIGIN_NOT_ALLOWED(
      4007,
      FORBIDDEN,
      "Pages of this origin may not call the service; CORS_ALLOWED_ORIGINS lists those that may."),

  INTERNAL(5001, INTERNAL_SERVER_ERROR, "The service has failed; its log says why."),
  STORE_UNAVAILABLE(
      5002,
      SERVICE_UNAVAILABLE,
      "The plant store is unavailable now; send the same request again later."),
  OVERLOADED(
      5003,
      SERVICE_UNAVAILABLE,
      "The service has too much to do now; send the same request again later."),
  KEYS_UNAVAILABLE(
      5004,
      SERVICE_UNAVAILABLE,
      "The token cannot be checked now, because no usable key of the identity provider is known for"
          + " it; send the same request again later.");

  private final int number;
  private final HttpStatus status;
  private final String description;

  ErrorNumber(int number, HttpStatus status, String description) {
    this.number = number;
    this.status = status;
    this.description = description;
  }

  /** Returns the error of an invalid field of a plant. */
  public static ErrorNumber ofField(String name) {
    return switch (name) {
      case "id" -> ID;
      case "tag" -> TAG;
      default -> NAME;
    };
  }

  public int number() {
    return number;
  }

  public HttpStatus status() {
    return status;
  }

  /** Returns the fault and its cure, in one sentence. */
  public String description() {
    return description;
  }

  /**
   * Returns the value of a {@code Link} header (RFC 8288) that leads from the requested path to the
   * entry on the error page.
   */
  public String link(String path) {
    // A longer path gets a link that leads nowhere, so that it cannot lengthen the response.
    int depth = Math.min(Math.max(path.split("/", -1).length - 2, 0), 32);
    return "<" + "../".repeat(depth) + "errors#" + number + ">; rel=\"help\"";
  }
}
