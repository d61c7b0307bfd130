package org.plantstore.adapter.http.error;

import io.micronaut.http.HttpStatus;

/**
 * The error catalogue: the only source of the numbers in the {@code error} member of an answer. A
 * number is never given another meaning. The thousands say where the fault is: 1 in the body as a
 * whole, 2 in a field, 3 in the plant beside the stored ones, 4 in the caller or the address, 5 in
 * the service.
 */
public enum ErrorNumber {
  MALFORMED_JSON(
      1001,
      HttpStatus.BAD_REQUEST,
      "The body must be one JSON object in UTF-8 (RFC 8259), without repeated members and without"
          + " anything after it.",
      "The body is empty or not well-formed: a comma or a quotation mark too many or too few, a"
          + " member written twice, a comment, NaN, something after the object, bytes that are not"
          + " UTF-8, or more than 1,000 levels of nesting.",
      "Let a JSON library write the body instead of putting text together; the message says what"
          + " could not be read."),
  NOT_AN_OBJECT(
      1002,
      HttpStatus.BAD_REQUEST,
      "The body must be a JSON object.",
      "The body is well-formed JSON, but an array, a string, a number, true, false or null.",
      "Send one plant for each request, as an object: {\"id\":1,\"name\":\"fern\"}."),
  CONTENT_TYPE(
      1003,
      HttpStatus.BAD_REQUEST,
      "The body must have the Content-Type application/json.",
      "The Content-Type is missing, is sent more than once, is another one, or has a charset other"
          + " than UTF-8.",
      "Send the header Content-Type: application/json. Many clients declare a form or plain text"
          + " unless they are told."),
  CONTENT_ENCODING(
      1004,
      HttpStatus.BAD_REQUEST,
      "The body must be sent as it is, without Content-Encoding.",
      "The request declares that its body is compressed.",
      "Switch the compression of requests off; a plant is small."),
  BODY_TOO_LARGE(
      1005,
      HttpStatus.BAD_REQUEST,
      "The body must not be larger than the limit.",
      "The body has more bytes than the message names; the operator of the service sets the limit.",
      "Shorten name or tag, or leave out members that the service ignores."),

  ID(
      2001,
      HttpStatus.BAD_REQUEST,
      "id is required and must be an integer of 64 bits.",
      "id is missing, null, a string, a number with a fraction or an exponent, or outside of"
          + " -9223372036854775808 to 9223372036854775807.",
      "Send id as a JSON integer without quotation marks. In languages whose numbers are floating"
          + " point, such as JavaScript, an id beyond 2^53 needs a library that keeps it exactly."),
  NAME(
      2002,
      HttpStatus.BAD_REQUEST,
      "name is required and must be a string of Unicode text.",
      "name is missing, null or not a string, or has the character U+0000 or one half of a"
          + " surrogate pair.",
      "Send name as a JSON string; the empty one is allowed. An unpaired surrogate often comes"
          + " from text that was cut in the middle of an emoji."),
  TAG(
      2003,
      HttpStatus.BAD_REQUEST,
      "tag must be a string of Unicode text, null or absent.",
      "tag is neither a string nor null, or has the character U+0000 or one half of a surrogate"
          + " pair.",
      "Send tag as a JSON string, or leave it out for a plant without a tag."),

  ID_TAKEN(
      3001,
      HttpStatus.BAD_REQUEST,
      "The id is taken by a plant with another name or tag; choose another id.",
      "Another plant was created with this id before, perhaps by another caller. It was not"
          + " changed, and its name and tag are not told.",
      "Choose another id. To repeat a request that got no answer, send it unchanged: the same"
          + " plant is answered with 200."),

  NO_TOKEN(
      4001,
      HttpStatus.UNAUTHORIZED,
      "The request must have one Authorization header with a bearer token.",
      "The request has no Authorization header, has more than one, one of another scheme than"
          + " Bearer, or one without a token.",
      "Send the header Authorization: Bearer, followed by a space and the token. A token in the"
          + " address, in a cookie or in the body is not read."),
  INVALID_TOKEN(
      4002,
      HttpStatus.UNAUTHORIZED,
      "The bearer token is not valid here; obtain a new one.",
      "The token has expired, is not valid yet, is not signed with a key of this service or its"
          + " identity provider, has another issuer or audience, or is no JSON Web Token.",
      "Obtain a new token from where the operator of the service says. If a new one is refused as"
          + " well, compare its issuer and audience with what the service demands, and the"
          + " clocks."),
  NOT_FOUND(
      4003,
      HttpStatus.NOT_FOUND,
      "Nothing is at this path; plants are created at /plants.",
      "The path is not /plants; paths are case-sensitive.",
      "Send the request to /plants, below the address of the service."),
  METHOD_NOT_ALLOWED(
      4004,
      HttpStatus.METHOD_NOT_ALLOWED,
      "The path does not allow this method; the Allow header names those it does.",
      "Plants can be created, not listed, read, changed or deleted; documents can be read alone.",
      "Send POST to /plants, and GET to a document."),
  MALFORMED_REQUEST(
      4005,
      HttpStatus.BAD_REQUEST,
      "The request must be well-formed HTTP/1.1 (RFC 9112), with at most 16 KiB for its first"
          + " line, and as much for at most 100 headers.",
      "The bytes are not a request of HTTP/1.1: a broken or overlong first line or header, too many"
          + " headers, no Host or several, an unknown transfer coding, a broken chunk, or a version"
          + " other than 1.0 and 1.1. The connection is closed.",
      "Use an HTTP library, and look at what stands between it and the service if it is one. If"
          + " the token or the address is long, shorten it."),

  INTERNAL(
      5001,
      HttpStatus.INTERNAL_SERVER_ERROR,
      "The service has failed; its log says why.",
      "Something happened that the service does not expect: a fault of its own or of its database.",
      "Send the same request again later; that is safe, whether or not the plant was stored. If"
          + " it stays, tell the operator of the service the time of the request."),
  STORE_UNAVAILABLE(
      5002,
      HttpStatus.SERVICE_UNAVAILABLE,
      "The plant store cannot be reached now; send the same request again later.",
      "The database of the service is down, restarting, not reachable or too slow.",
      "Wait as long as Retry-After says and send the same request again; that is safe, whether or"
          + " not the plant was stored."),
  OVERLOADED(
      5003,
      HttpStatus.SERVICE_UNAVAILABLE,
      "The service has too much to do now; send the same request again later.",
      "More requests wait for the service than it lets wait, or large bodies take up the memory that"
          + " there is for them. This one was not begun.",
      "Wait as long as Retry-After says and send the same request again; wait longer each time it"
          + " is refused."),
  KEYS_UNAVAILABLE(
      5004,
      HttpStatus.SERVICE_UNAVAILABLE,
      "The token cannot be checked now, because the identity provider does not answer; send the"
          + " same request again later.",
      "The token names a key that the service does not have yet, and the identity provider that"
          + " has it does not answer.",
      "Wait as long as Retry-After says and send the same request again.");

  private final int number;
  private final HttpStatus status;
  private final String description;
  private final String cause;
  private final String cure;

  ErrorNumber(int number, HttpStatus status, String description, String cause, String cure) {
    this.number = number;
    this.status = status;
    this.description = description;
    this.cause = cause;
    this.cure = cure;
  }

  public int number() {
    return number;
  }

  public HttpStatus status() {
    return status;
  }

  /** Returns what is wrong and what to do, in one sentence. */
  public String description() {
    return description;
  }

  /** Returns how a request comes to this error, in sentences for a person. */
  public String cause() {
    return cause;
  }

  /** Returns what its sender can do about it, in sentences for a person. */
  public String cure() {
    return cure;
  }

  /** Returns the number of a field of the domain's plant: {@code name} or {@code tag}. */
  public static ErrorNumber ofField(String field) {
    return field.equals("name") ? NAME : TAG;
  }
}
