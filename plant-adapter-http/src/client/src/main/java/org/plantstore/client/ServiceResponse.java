package org.plantstore.client;

import static java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME;
import static java.time.temporal.ChronoUnit.MILLIS;
import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantIdTakenException;

/** Interprets a response to a create request. */
final class ServiceResponse {

  static final String REQUEST_ID = "X-Request-Id";

  /** The lengths of values are not limited here, because the body size is limited. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private final HttpResponse<Void> response;
  private final Map<String, @Nullable String> members;

  ServiceResponse(HttpResponse<Void> response, byte[] body) {
    this.response = response;
    this.members = members(body);
  }

  /**
   * Returns the members of the JSON object in a body as strings, or an empty map if the body is not
   * a JSON object.
   */
  private static Map<String, @Nullable String> members(byte[] body) {
    Map<String, @Nullable String> members = new HashMap<>();
    try (JsonParser json = JSON.createParser(body)) {
      json.nextToken();
      for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
        json.nextToken();
        members.put(name, json.getValueAsString()); // null, unless the value is a scalar
        json.skipChildren();
      }
      return members;
    } catch (IOException e) {
      return Map.of();
    }
  }

  int status() {
    return response.statusCode();
  }

  /** Returns the request id that the service or a proxy set in the response. */
  String id() {
    return header(REQUEST_ID);
  }

  /** Returns whether the response confirms that the plant was created. */
  boolean confirms(NewPlant plant) {
    return status() == 200
        && plant.name().equals(members.get("name"))
        && Objects.equals(plant.tag(), members.get("tag"));
  }

  /** Returns whether the same request might succeed if it is sent again later. */
  boolean permitsRetry() {
    return status() >= 500 || List.of(408, 425, 429).contains(status());
  }

  /**
   * Returns the delay in the {@code Retry-After} header, or 0 if the header is missing or invalid.
   */
  long retryAfterNanos() {
    String time = header("Retry-After");
    try {
      double seconds =
          time.matches("\\d+")
              ? Double.parseDouble(time)
              : (1 + Instant.now().until(RFC_1123_DATE_TIME.parse(time, Instant::from), MILLIS))
                  / 1e3;
      return (long) (1e9 * Math.max(0, Math.min(seconds, 1e9)));
    } catch (DateTimeException e) {
      return 0;
    }
  }

  /** Returns the exception to throw if the plant was not created and a retry cannot help. */
  RuntimeException toException(NewPlant plant, String message) {
    int error = error();
    if (status() == 400 && error == 3001) {
      return new PlantIdTakenException(plant.id());
    }
    if (status() == 400 && (error == 1005 || error / 1000 == 2)) {
      boolean isTagLonger = requireNonNullElse(plant.tag(), "").length() > plant.name().length();
      String field =
          Map.of(2001, "id", 2002, "name", 2003, "tag")
              .getOrDefault(error, isTagLonger ? "tag" : "name");
      return new InvalidPlantException(
          plant, List.of(new InvalidPlantException.Violation(field, "was rejected: " + message)));
    }
    return new UnexpectedResponseException(message, status(), error);
  }

  private int error() {
    String number = String.valueOf(members.get("error"));
    return number.matches("\\d{4}") ? Integer.parseInt(number) : 0;
  }

  /** Returns a description of this response for use in messages. */
  String reason() {
    String error = ", error " + members.get("error") + ": " + members.get("message");
    return ("status " + status() + ", X-Request-Id " + id())
        + (", Content-Type " + header("Content-Type"))
        + (", Content-Encoding " + header("Content-Encoding"))
        + (members.containsKey("error") ? error : "");
  }

  private String header(String name) {
    return response.headers().firstValue(name).orElse("none");
  }
}
