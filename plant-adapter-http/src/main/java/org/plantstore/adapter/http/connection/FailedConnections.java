package org.plantstore.adapter.http.connection;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.adapter.http.observe.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a connection that the client has reset, or on which a handler fails, such as without
 * memory. Stands behind {@link BodyMemory}, in front of the framework, because a failure passes the
 * handlers in the direction of input. One per connection, used by its event loop only.
 */
final class FailedConnections extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(FailedConnections.class);
  private static final LogLimit NO_MEMORY = new LogLimit();

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
    LOG.debug("A connection is closed", cause);
    if (cause instanceof OutOfMemoryError && NO_MEMORY.tryAcquire()) {
      LOG.warn(
          "Connections are closed because Netty has no direct memory left for their input: {}",
          cause.getMessage());
    }
  }
}
