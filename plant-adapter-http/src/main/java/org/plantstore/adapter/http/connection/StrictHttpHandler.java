package org.plantstore.adapter.http.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import org.plantstore.adapter.http.error.ErrorLink;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.observe.Exchange;
import org.plantstore.adapter.http.observe.RareLine;
import org.plantstore.adapter.http.observe.RequestTarget;
import org.plantstore.adapter.http.observe.UnansweredExchanges;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands between the framework's decoder and the framework. Refuses what the decoder lets through
 * although RFC 9112 forbids it: a head that no HTTP/1.1 request has, and a body whose framing
 * breaks, which would otherwise count as complete (section 8). Follows the requests to their
 * answers, and closes the connection after the last one: of a request that is broken, of a client
 * that has closed its side (section 9.6), of a service that is about to stop. One per connection,
 * used by its event loop alone.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // Netty reports what fails on a connection by closing it
final class StrictHttpHandler extends ChannelDuplexHandler {

  private static final Logger LOG = LoggerFactory.getLogger(StrictHttpHandler.class);
  private static final RareLine NO_MEMORY = new RareLine();

  private static final AsciiString CONTENT_TYPE_OPTIONS =
      AsciiString.cached("x-content-type-options");
  private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");
  private static final String UNKNOWN_METHOD = "UNKNOWN-";

  /**
   * How much of a body beyond the limit is read and dropped: most clients read the refusal only
   * when they have sent everything.
   */
  private static final long MAX_DROPPED_BYTES = 16 * 1024 * 1024;

  private final byte[] malformedRequest;
  private final long maxBodyBytes;
  private final RequestDecoder decoder;
  private final Draining draining;

  /** A broken one included. */
  private final UnansweredExchanges unanswered;

  private String target = "/";
  private boolean receiving;
  private long bodyBytes;

  /** The client waits to be asked for the body, and has not been asked yet. */
  private boolean expecting;

  /** The request is the last one that its client sends (RFC 9112, section 9.6). */
  private boolean closing;

  /** Nothing that comes is read any more. */
  private boolean ending;

  /** The last answer is written. */
  private boolean refused;

  /** The last of the unanswered ones is broken, and the framework has no answer to it. */
  private boolean broken;

  StrictHttpHandler(
      byte[] malformedRequest,
      long maxBodyBytes,
      RequestDecoder decoder,
      Draining draining,
      UnansweredExchanges unanswered) {
    this.malformedRequest = malformedRequest;
    this.maxBodyBytes = maxBodyBytes;
    this.decoder = decoder;
    this.draining = draining;
    this.unanswered = unanswered;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (ending) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (message instanceof HttpRequest request) {
      if (!unanswered.begin(request, decoder.headBytes())) {
        ReferenceCountUtil.release(message);
        end();
        context.close();
        return;
      }
      begin(request);
    } else if (message instanceof HttpContent content && !isReadable(content)) {
      ReferenceCountUtil.release(message);
      endBroken(context);
      return;
    }
    boolean isWhole = message instanceof LastHttpContent;
    if (isWhole) {
      receiving = false;
    }
    context.fireChannelRead(message);
    if (isWhole && closing) {
      end();
    }
  }

  /** Nothing more is read. */
  private void end() {
    ending = true;
    decoder.stop();
  }

  private void begin(HttpRequest request) {
    receiving = true;
    closing = !HttpUtil.isKeepAlive(request);
    bodyBytes = 0;
    expecting = HttpUtil.is100ContinueExpected(request);
    target = request.uri();
    if (request.decoderResult().isFailure()) {
      ending = true;
    } else if (!RequestHead.isWellFormed(request)) {
      ending = true;
      // The framework answers as it does for what the decoder itself refuses. It must not meet a
      // target that it cannot parse, and would answer in the version of the request.
      request
          // Of the same depth, because references in the answer are relative to the target.
          .setUri("/" + "x/".repeat(ErrorLink.depthOf(path())))
          .setProtocolVersion(HttpVersion.HTTP_1_1)
          .setDecoderResult(
              DecoderResult.failure(new IllegalArgumentException("no request of RFC 9112")));
    } else if (RequestHead.isMistakable(request.method())) {
      request.setMethod(HttpMethod.valueOf(UNKNOWN_METHOD + request.method().name()));
    }
  }

  private boolean isReadable(HttpContent content) {
    bodyBytes += content.content().readableBytes();
    return content.decoderResult().isSuccess() && bodyBytes <= maxBodyBytes + MAX_DROPPED_BYTES;
  }

  /**
   * The client has reset the connection, which would otherwise be taken for the end of its side, so
   * that no answer would be read; or the decoder gives up; or there is no memory to read into.
   */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    boolean hasNoMemory = cause instanceof OutOfMemoryError;
    if (cause instanceof IOException || cause instanceof DecoderException || hasNoMemory) {
      end();
      context.close();
    } else {
      context.fireExceptionCaught(cause);
    }
    if (hasNoMemory && NO_MEMORY.isDue()) {
      LOG.warn(
          "Connections are closed because there is no memory for what comes: {}",
          cause.getMessage());
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent && !ending) {
      if (receiving) {
        endBroken(context);
      } else {
        end();
        if (unanswered.count() == 0) {
          closeWhenWritten(context);
        }
      }
    }
    context.fireUserEventTriggered(event);
  }

  /** The requests before the broken one are answered first. */
  private void endBroken(ChannelHandlerContext context) {
    end();
    broken = unanswered.count() > 0;
    if (!broken) {
      closeWhenWritten(context);
    } else if (unanswered.count() == 1 && !unanswered.isAnswering()) {
      refuse(context);
    }
  }

  /** The answers before may still wait for their reader. */
  private static void closeWhenWritten(ChannelHandlerContext context) {
    context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
  }

  /** Whoever closes has written everything, but the client may not have read it. */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    context
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener((ChannelFutureListener) written -> context.close(promise));
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    unanswered.endAll();
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (refused) {
      ReferenceCountUtil.release(message); // the framework's answer to what is refused already
      promise.trySuccess();
      return;
    }
    if (message instanceof HttpResponse response) {
      if (response.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
        expecting = false;
      } else {
        complete(response.headers());
        unanswered.beginAnswer(response);
      }
    }
    if (!unanswered.isAnswering() || !(message instanceof HttpContent part)) {
      context.write(message, promise);
      return;
    }
    ChannelPromise written = promise;
    Exchange answered = unanswered.continueAnswer(part);
    if (answered != null && answered.memory().isTaken()) {
      written = written.unvoid().addListener(future -> answered.memory().shrinkTo(0));
    }
    if (answered != null && ending && unanswered.count() == 0) {
      written = written.unvoid().addListener(ChannelFutureListener.CLOSE);
    }
    context.write(message, written);
    if (answered != null) {
      decoder.requestAnswered();
    }
    if (answered != null && broken && unanswered.count() == 1) {
      refuse(context);
    }
  }

  /** What is told to one caller is for no cache, and is what its type says. */
  private void complete(HttpHeaders headers) {
    if (!headers.contains(HttpHeaderNames.CACHE_CONTROL)) {
      headers.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }
    headers.set(CONTENT_TYPE_OPTIONS, NOSNIFF);
    if (unanswered.count() == 1 && isLast()) {
      ending = true;
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
  }

  /** Says whether no request can follow the one that is answered. */
  private boolean isLast() {
    // Whether a body follows that was not asked for is up to the client (RFC 9110, section 10.1.1).
    return ending || (receiving ? expecting : draining.hasBegun());
  }

  private void refuse(ChannelHandlerContext context) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.BAD_REQUEST,
            Unpooled.wrappedBuffer(malformedRequest));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, malformedRequest.length)
        .set("link", ErrorLink.to(ErrorNumber.MALFORMED_REQUEST, path()));
    write(context, response, context.newPromise());
    context.flush();
    refused = true;
  }

  private String path() {
    return RequestTarget.pathOf(target);
  }
}
