package org.plantstore.adapter.http;

import io.micronaut.core.convert.exceptions.ConversionErrorException;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Error;
import io.micronaut.http.exceptions.BufferLengthExceededException;
import io.micronaut.http.exceptions.ContentLengthExceededException;
import io.micronaut.http.exceptions.HttpException;
import io.micronaut.http.exceptions.HttpStatusException;
import io.micronaut.http.server.HttpServerConfiguration;
import io.micronaut.http.server.exceptions.NotAllowedException;
import io.micronaut.http.server.exceptions.response.ErrorContext;
import io.micronaut.http.server.exceptions.response.ErrorResponseProcessor;
import io.micronaut.json.JsonMapper;
import io.micronaut.serde.annotation.Serdeable;
import io.micronaut.web.router.exceptions.UnsatisfiedBodyRouteException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.LogLimit;
import org.plantstore.adapter.http.observe.RequestRecord;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts every exception from a port, this adapter, or the framework into a response whose body
 * is an {@code Error} as defined in the API contract. Safe for use by multiple threads.
 */
@Controller
final class ErrorResponses implements ErrorResponseProcessor<byte[]> {

  private static final Logger LOG = LoggerFactory.getLogger(ErrorResponses.class);

  @Serdeable.Serializable
  record ErrorBody(int error, String message) {}

  private static final String CHALLENGE = "Bearer realm=\"plants\""; // RFC 6750, section 3

  private final JsonMapper json;
  private final long maxBodyBytes;

  /** The errors that are logged, each with the limit on its log lines. */
  private final Map<ErrorNumber, LogLimit> logged =
      Map.of(
          ErrorNumber.MALFORMED_REQUEST, new LogLimit(),
          ErrorNumber.ORIGIN_NOT_ALLOWED, new LogLimit(),
          ErrorNumber.STORE_UNAVAILABLE, new LogLimit(),
          ErrorNumber.INTERNAL, new LogLimit());

  ErrorResponses(JsonMapper json, HttpServerConfiguration server) {
    this.json = json;
    this.maxBodyBytes = server.getMaxRequestSize();
  }

  /**
   * Handles every exception. An {@code ExceptionHandler} bean would use four times as much CPU
   * time, because the framework looks up the handler again for each exception.
   */
  @Error(global = true)
  HttpResponse<byte[]> handle(HttpRequest<?> request, Throwable failure) {
    MutableHttpResponse<?> response =
        failure instanceof NotAllowedException notAllowed
            ? HttpResponse.notAllowedGeneric(notAllowed.getAllowedMethods())
            : HttpResponse.ok();
    return respond(request, response, failure);
  }

  /**
   * Makes the framework pass malformed requests to {@link #handle}. Without this error route, the
   * response to a malformed HEAD request would have no headers.
   */
  @Error(global = true, status = HttpStatus.BAD_REQUEST)
  HttpResponse<byte[]> handleMalformed(HttpRequest<?> request) {
    return handle(request, new RefusedException(ErrorNumber.MALFORMED_REQUEST));
  }

  /** Handles the errors for which the framework does not call an error route. */
  @Override
  public MutableHttpResponse<byte[]> processResponse(
      ErrorContext context, MutableHttpResponse<?> response) {
    Throwable failure =
        context
            .getRootCause()
            .orElseGet(() -> new HttpStatusException(response.status(), response.reason()));
    return respond(context.getRequest(), response, failure);
  }

  private MutableHttpResponse<byte[]> respond(
      HttpRequest<?> request, MutableHttpResponse<?> response, Throwable failure) {
    RefusedException refusal = refusalOf(request, failure);
    ErrorNumber error = refusal.error();
    RequestRecord record = RequestRecord.of(request);
    record.recordError(error);
    LogLimit limit = logged.get(error);
    if (limit != null && limit.tryAcquire()) {
      record.runWithIds(() -> log(error, refusal, failure));
    }
    switch (error) {
      // A random delay keeps clients whose requests fail at the same time from retrying in unison.
      case STORE_UNAVAILABLE, OVERLOADED, KEYS_UNAVAILABLE ->
          response.header(
              HttpHeaders.RETRY_AFTER, String.valueOf(ThreadLocalRandom.current().nextInt(1, 4)));
      case NO_TOKEN -> response.header(HttpHeaders.WWW_AUTHENTICATE, CHALLENGE);
      case INVALID_TOKEN ->
          response.header(HttpHeaders.WWW_AUTHENTICATE, CHALLENGE + ", error=\"invalid_token\"");
      case MISSING_CLAIM ->
          response.header(
              HttpHeaders.WWW_AUTHENTICATE, CHALLENGE + ", error=\"insufficient_scope\"");
      default -> {}
    }
    byte[] body = toJson(error, String.valueOf(refusal.getMessage()));
    return response
        .status(error.status())
        .header(HttpHeaders.LINK, error.link(record.path()))
        .contentType(MediaType.APPLICATION_JSON_TYPE)
        .contentLength(body.length) // the framework would omit this header in responses to HEAD
        .body(body);
  }

  private static void log(ErrorNumber error, RefusedException refusal, Throwable failure) {
    switch (error) {
      case INTERNAL -> LOG.error("A request failed", failure);
      case STORE_UNAVAILABLE ->
          LOG.warn("Create requests failed with error 5002: {}", failure.getMessage());
      default ->
          LOG.warn(
              "A request was rejected with error {}: {}", error.number(), refusal.getMessage());
    }
  }

  private byte[] toJson(ErrorNumber error, String message) {
    try {
      return json.writeValueAsBytes(new ErrorBody(error.number(), message));
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  private RefusedException refusalOf(HttpRequest<?> request, Throwable failure) {
    if (failure instanceof RefusedException refusal) {
      return refusal;
    }
    if (failure instanceof PlantIdTakenException taken) {
      return new RefusedException(
          ErrorNumber.ID_TAKEN,
          "id " + taken.id() + " is taken by a plant with another name or tag; choose another id.");
    }
    if (failure instanceof InvalidPlantException invalid) { // violates one of the store's rules
      return new RefusedException(
          ErrorNumber.ofField(invalid.violations().get(0).field()),
          NewPlantJson.sentence(String.valueOf(invalid.getMessage())));
    }
    if (failure instanceof PlantStoreUnavailableException) {
      return new RefusedException(ErrorNumber.STORE_UNAVAILABLE);
    }
    if (failure instanceof UnsatisfiedBodyRouteException) { // Content-Length: 0
      RefusedException refusal = NewPlantReader.refusalOf(request.getHeaders());
      return refusal == null ? NewPlantJson.noBody() : refusal;
    }
    if (failure instanceof HttpStatusException
        && failure.getCause() instanceof RefusedException malformedBody) {
      return malformedBody;
    }
    if (failure instanceof ContentLengthExceededException
        || failure instanceof BufferLengthExceededException) {
      return new RefusedException(
          ErrorNumber.BODY_TOO_LARGE,
          "The body exceeds the limit of "
              + maxBodyBytes
              + " bytes; shorten name or tag, or omit other members.");
    }
    if (failure instanceof IOException) { // the client has disconnected, so no response is sent
      return new RefusedException(ErrorNumber.MALFORMED_JSON);
    }
    if (failure instanceof HttpStatusException framework) {
      return new RefusedException(errorOf(framework.getStatus()));
    }
    if (failure instanceof ConversionErrorException) { // for example, for /health/unknown
      return new RefusedException(ErrorNumber.NOT_FOUND);
    }
    return new RefusedException(
        failure instanceof HttpException ? ErrorNumber.MALFORMED_REQUEST : ErrorNumber.INTERNAL);
  }

  private static ErrorNumber errorOf(HttpStatus status) {
    return switch (status) {
      case NOT_FOUND -> ErrorNumber.NOT_FOUND;
      case METHOD_NOT_ALLOWED -> ErrorNumber.METHOD_NOT_ALLOWED;
      default -> status.getCode() < 500 ? ErrorNumber.MALFORMED_REQUEST : ErrorNumber.INTERNAL;
    };
  }
}
