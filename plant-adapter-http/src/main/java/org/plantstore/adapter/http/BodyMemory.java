package org.plantstore.adapter.http;

import io.micronaut.context.event.BeanCreatedEvent;
import io.micronaut.context.event.BeanCreatedEventListener;
import io.micronaut.http.netty.channel.ChannelPipelineCustomizer;
import io.micronaut.http.server.netty.NettyServerCustomizer;
import io.netty.channel.Channel;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the bodies of all requests may take together, from their first bytes until they
 * are answered. Without a bound, a body of the largest size on every connection would take more
 * than there is. Safe for use by many threads.
 */
@Singleton
final class BodyMemory implements BeanCreatedEventListener<NettyServerCustomizer.Registry> {

  /**
   * As a body, as text, in a batch for the database and as an answer a plant takes up to four times
   * its bytes, and the service itself needs a third of a small heap.
   */
  private static final int SHARE_OF_HEAP = 8;

  private final long limit;
  private final AtomicLong taken = new AtomicLong();

  BodyMemory() {
    this(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
  }

  private BodyMemory(long limit) {
    this.limit = limit;
  }

  /**
   * Takes memory, unless others have taken so much that there is none left.
   *
   * @param bytes how much more is needed
   * @param before how much the same body has taken before; one alone may take any amount
   * @return whether it was taken
   */
  boolean take(long bytes, long before) {
    long sum = taken.addAndGet(bytes);
    if (sum <= limit || sum == before + bytes) {
      return true;
    }
    taken.addAndGet(-bytes);
    return false;
  }

  /** Gives back what was taken. */
  void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }

  @Override
  public NettyServerCustomizer.Registry onCreated(
      BeanCreatedEvent<NettyServerCustomizer.Registry> event) {
    event.getBean().register(new OnEveryConnection(null));
    return event.getBean();
  }

  private final class OnEveryConnection implements NettyServerCustomizer {

    private final @Nullable Channel channel;

    OnEveryConnection(@Nullable Channel channel) {
      this.channel = channel;
    }

    @Override
    public NettyServerCustomizer specializeForChannel(Channel newChannel, ChannelRole role) {
      return new OnEveryConnection(newChannel);
    }

    @Override
    public void onStreamPipelineBuilt() {
      if (channel != null) {
        channel
            .pipeline()
            .addBefore(
                ChannelPipelineCustomizer.HANDLER_MICRONAUT_INBOUND,
                "body-memory",
                new BodyMemoryHandler(BodyMemory.this));
      }
    }
  }
}
