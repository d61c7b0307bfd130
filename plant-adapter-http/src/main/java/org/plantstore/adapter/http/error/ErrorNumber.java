package org.plantstore.adapter.http.error;

import static io.micronaut.http.HttpStatus.BAD_REQUEST;
import static io.micronaut.http.HttpStatus.FORBIDDEN;
import static io.micronaut.http.HttpStatus.INTERNAL_SERVER_ERROR;
import static io.micronaut.http.HttpStatus.SERVICE_UNAVAILABLE;
import static io.micronaut.http.HttpStatus.UNAUTHORIZED;

import io.micronaut.http.HttpStatus;

/**
 * The error catalog. The meaning of an error number never changes. The first digit indicates the
 * kind of error: an invalid body (1), an invalid field (2), a conflict with a stored plant (3), a
 * problem with the token, URL, or headers (4), or a problem in the service (5). {@code errors.html}
 * explains the cause of each error and how to fix it.
 */
public enum ErrorNumber {
  MALFORMED_JSON(
      1001,
      BAD_REQUEST,
      "The body must be one JSON object in UTF-8 (RFC 8259), with no duplicate members and nothing"
          + " after it."),
  NOT_AN_OBJECT(1002, BAD_REQUEST, "The body must be a JSON object."),
  CONTENT_TYPE(1003, BAD_REQUEST, "The Content-Type of the body must be application/json."),
  CONTENT_ENCODING(
      1004, BAD_REQUEST, "The body must be sent uncompressed, without a Content-Encoding header."),
  BODY_TOO_LARGE(1005, BAD_REQUEST, "The body must not exceed the size limit."),

  ID(2001, BAD_REQUEST, "id is required and must be a 64-bit integer."),
  NAME(2002, BAD_REQUEST, "name is required and must be a string of valid Unicode characters."),
  TAG(2003, BAD_REQUEST, "tag must be absent, null, or a string of valid Unicode characters."),

  ID_TAKEN(
      3001,
      BAD_REQUEST,
      "The id is already taken by a plant with a different name or tag; choose another id."),

  NO_TOKEN(
      4001, UNAUTHORIZED, "The request must have one Authorization header with a bearer token."),
  INVALID_TOKEN(
      4002,
      UNAUTHORIZED,
      "The bearer token is not valid for this service; fix the problem described in the"
          + " response, or obtain a new token."),
  NOT_FOUND(
      4003,
      HttpStatus.NOT_FOUND,
      "The path does not exist; the only operation is POST /plants, and paths are case-sensitive."
          + " Plants cannot be read, changed, or deleted."),
  METHOD_NOT_ALLOWED(
      4004,
      HttpStatus.METHOD_NOT_ALLOWED,
      "The path does not allow this method; the only operation is POST /plants. Plants cannot be"
          + " read, changed, or deleted."),
  MALFORMED_REQUEST(
      4005,
      BAD_REQUEST,
      "The request must be well-formed HTTP/1.1 (RFC 9112), with at most 16 KiB in its first line, at"
          + " most 100 headers, and at most 16 KiB in all headers together."),
  MISSING_CLAIM(
      4006,
      FORBIDDEN,
      "The bearer token is valid but lacks a required claim; obtain a token that contains it."),
  ORIGIN_NOT_ALLOWED(
      4007,
      FORBIDDEN,
      "Web pages from this origin may not call the service; the setting CORS_ALLOWED_ORIGINS lists"
          + " the allowed origins."),

  INTERNAL(
      5001,
      INTERNAL_SERVER_ERROR,
      "The service failed because of an internal error; its log contains the reason."),
  STORE_UNAVAILABLE(
      5002,
      SERVICE_UNAVAILABLE,
      "The plant store is temporarily unavailable; send the same request again later."),
  OVERLOADED(
      5003, SERVICE_UNAVAILABLE, "The service is overloaded; send the same request again later."),
  KEYS_UNAVAILABLE(
      5004,
      SERVICE_UNAVAILABLE,
      "The service cannot verify the token at the moment, because it has not received a matching key"
          + " from the identity provider; send the same request again later.");

  private final int number;
  private final HttpStatus status;
  private final String description;

  ErrorNumber(int number, HttpStatus status, String description) {
    this.number = number;
    this.status = status;
    this.description = description;
  }

  /** Returns the error for an invalid {@code id}, {@code name}, or {@code tag}. */
  public static ErrorNumber ofField(String name) {
    return switch (name) {
      case "id" -> ID;
      case "tag" -> TAG;
      default -> NAME;
    };
  }

  /** Returns the error number, which is the value of {@code error} in the response body. */
  public int number() {
    return number;
  }

  /** Returns the HTTP status of the response. */
  public HttpStatus status() {
    return status;
  }

  /** Returns the general message, which describes the error and how to fix it. */
  public String description() {
    return description;
  }

  /**
   * Returns the value of a {@code Link} header (RFC 8288) that points to this error's entry on the
   * error page.
   *
   * @param path the path of the request. The returned link is relative to this path.
   */
  public String link(String path) {
    // The number of "../" segments is limited to keep the response short. If a path needs more
    // "../" segments than the limit allows, the link does not work.
    int depth = Math.min(Math.max(path.split("/", -1).length - 2, 0), 32);
    return "<" + "../".repeat(depth) + "errors#" + number + ">; rel=\"help\"";
  }
}
