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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.LogLimit;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts exceptions of the ports, refusals of this adapter and errors of the framework to the
 * contract's Error. Safe for use by many threads.
 */
@Controller
final class ErrorAnswers implements ErrorResponseProcessor<byte[]> {

  private static final Logger LOG = LoggerFactory.getLogger(ErrorAnswers.class);

  /** The contract's Error. */
  @Serdeable.Serializable
  record ErrorBody(int error, String message) {}

  private final JsonMapper json;
  private final long maxBodyBytes;
  private final LogLimit unavailableLimit = new LogLimit();
  private final LogLimit failureLimit = new LogLimit();

  /** Errors that the client often cannot see or understand, so that the operator has to. */
  private final Map<ErrorNumber, LogLimit> loggedRefusals =
      Map.of(
          ErrorNumber.MALFORMED_REQUEST, new LogLimit(),
          ErrorNumber.ORIGIN_NOT_ALLOWED, new LogLimit());

  ErrorAnswers(JsonMapper json, HttpServerConfiguration server) {
    this.json = json;
    this.maxBodyBytes = server.getMaxRequestSize();
  }

  /**
   * Returns the answer to an exception. An exception handler of the framework would do the same for
   * four times the CPU, because it is searched anew for each exception.
   */
  @Error(global = true)
  HttpResponse<byte[]> handle(HttpRequest<?> request, Throwable failure) {
    RefusedException refusal = refusalOf(failure, Exchange.of(request));
    MutableHttpResponse<?> response =
        failure instanceof NotAllowedException notAllowed
            ? HttpResponse.notAllowedGeneric(notAllowed.getAllowedMethods())
            : HttpResponse.status(refusal.error().status());
    return answer(request, response, refusal);
  }

  /**
   * Exists so that the framework passes malformed requests to {@link #handle}, and is never called.
   * Without this route the answer to a malformed HEAD would have no headers.
   */
  @Error(global = true, status = HttpStatus.BAD_REQUEST)
  HttpResponse<byte[]> refuseMalformed(HttpRequest<?> request) {
    return handle(request, new RefusedException(ErrorNumber.MALFORMED_REQUEST));
  }

  /** Returns the answer to an error for which the framework calls no error route. */
  @Override
  public MutableHttpResponse<byte[]> processResponse(
      ErrorContext context, MutableHttpResponse<?> response) {
    RefusedException refusal = refusalOf(context.getRootCause().orElse(null), response.status());
    return answer(context.getRequest(), response, refusal);
  }

  private MutableHttpResponse<byte[]> answer(
      HttpRequest<?> request, MutableHttpResponse<?> response, RefusedException refusal) {
    ErrorNumber error = refusal.error();
    Exchange exchange = Exchange.of(request);
    exchange.recordError(error);
    LogLimit limit = loggedRefusals.get(error);
    if (limit != null && limit.tryAcquire()) {
      exchange.runWithIds(() ->
          LOG.warn("A request was refused with {}: {}", error.number(), refusal.getMessage()));
    }
    switch (error) {
      // Spread, so that clients that were refused together do not return together.
      case STORE_UNAVAILABLE, OVERLOADED, KEYS_UNAVAILABLE ->
          response.header(
              HttpHeaders.RETRY_AFTER, String.valueOf(ThreadLocalRandom.current().nextInt(1, 4)));
      case NO_TOKEN, INVALID_TOKEN, MISSING_CLAIM ->
          response.header(HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"plants\"" + reason(error));
      default -> {}
    }
    byte[] body = toJson(refusal);
    return response
        .status(error.status())
        .header(HttpHeaders.LINK, error.link(exchange.path()))
        .contentType(MediaType.APPLICATION_JSON_TYPE)
        .contentLength(body.length) // for HEAD, too
        .body(body);
  }

  /** RFC 6750, section 3.1; names no error if no token was sent. */
  private static String reason(ErrorNumber error) {
    return switch (error) {
      case INVALID_TOKEN -> ", error=\"invalid_token\"";
      case MISSING_CLAIM -> ", error=\"insufficient_scope\"";
      default -> "";
    };
  }

  private byte[] toJson(RefusedException refusal) {
    try {
      return json.writeValueAsBytes(
          new ErrorBody(refusal.error().number(), String.valueOf(refusal.getMessage())));
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory must not fail", e);
    }
  }

  private RefusedException refusalOf(Throwable failure, Exchange exchange) {
    if (failure instanceof RefusedException refusal) {
      return refusal;
    }
    if (failure instanceof PlantIdTakenException taken) {
      return new RefusedException(
          ErrorNumber.ID_TAKEN,
          "id " + taken.id() + " is taken by a plant with another name or tag; choose another id.");
    }
    if (failure instanceof InvalidPlantException invalid) { // by a rule of the store
      return new InvalidFields().add(invalid).refusal();
    }
    if (failure instanceof PlantStoreUnavailableException unavailable) {
      if (unavailableLimit.tryAcquire()) {
        exchange.runWithIds(() ->
            LOG.warn(
                "Creates failed with 5002; their callers may retry: {}", unavailable.getMessage()));
      }
      return new RefusedException(ErrorNumber.STORE_UNAVAILABLE);
    }
    if (failure instanceof HttpStatusException framework) {
      return failure.getCause() instanceof RefusedException malformedBody
          ? malformedBody
          : refusalOf(failure, framework.getStatus());
    }
    if (failure instanceof ConversionErrorException) { // such as of /health/unknown
      return new RefusedException(ErrorNumber.NOT_FOUND);
    }
    if (failure instanceof HttpException) {
      return refusalOf(failure, HttpStatus.BAD_REQUEST);
    }
    if (failureLimit.tryAcquire()) {
      exchange.runWithIds(() -> LOG.error("A request failed", failure));
    }
    return new RefusedException(ErrorNumber.INTERNAL);
  }

  private RefusedException refusalOf(@Nullable Throwable cause, HttpStatus status) {
    if (cause instanceof ContentLengthExceededException
        || cause instanceof BufferLengthExceededException) {
      return new RefusedException(
          ErrorNumber.BODY_TOO_LARGE, "The body must have at most " + maxBodyBytes + " bytes.");
    }
    return new RefusedException(
        switch (status) {
          case NOT_FOUND -> ErrorNumber.NOT_FOUND;
          case METHOD_NOT_ALLOWED -> ErrorNumber.METHOD_NOT_ALLOWED;
          default -> status.getCode() < 500 ? ErrorNumber.MALFORMED_REQUEST : ErrorNumber.INTERNAL;
        });
  }
}
