package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.util.Objects;
import java.util.stream.Stream;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a connection that the client has reset, or on which a handler throws, for example because
 * memory is exhausted. Stands behind {@link BodyMemory}, in front of the framework, because a
 * failure passes the handlers in the direction of input. One per connection, used by its event loop
 * only.
 */
final class FailedConnections extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(FailedConnections.class);
  private static final LogLimit NO_MEMORY = new LogLimit();
  private static final LogLimit UNEXPECTED = new LogLimit();

  private final CurrentRequest current;

  FailedConnections(CurrentRequest current) {
    this.current = current;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof RefusedException) {
      context.fireExceptionCaught(cause); // the framework answers
      return;
    }
    current.end();
    // At once, also if ConnectionEnd would wait.
    context.pipeline().context(ConnectionEnd.class).close();
    if (cause instanceof OutOfMemoryError) {
      if (NO_MEMORY.tryAcquire()) {
        LOG.warn(
            "Connections are closed because Netty has no direct memory left for their input: {}",
            cause.getMessage());
      }
    } else if (isOfClient(cause)) {
      LOG.debug("A connection is closed", cause);
    } else if (UNEXPECTED.tryAcquire()) {
      LOG.error("A connection is closed because the service failed", cause);
    }
  }

  /** Returns whether the client or the network failed, which includes TLS. */
  private static boolean isOfClient(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .anyMatch(IOException.class::isInstance);
  }
}
