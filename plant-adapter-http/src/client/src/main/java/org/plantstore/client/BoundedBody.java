package org.plantstore.client;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/** Collects the body of a response. A larger one fails, and its connection is closed. */
final class BoundedBody implements BodySubscriber<byte[]> {

  private final BodySubscriber<byte[]> body = BodySubscribers.ofByteArray();
  private long remainingBytes;
  private @Nullable Subscription subscription;

  /** Permits a number of bytes; if it is negative, no response at all. */
  BoundedBody(long maxBytes) {
    remainingBytes = maxBytes;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body.getBody();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    this.subscription = subscription;
    body.onSubscribe(subscription);
    failIfLarger();
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    remainingBytes -= buffers.stream().mapToLong(ByteBuffer::remaining).sum();
    body.onNext(buffers);
    failIfLarger();
  }

  private void failIfLarger() {
    if (remainingBytes < 0 && subscription != null) {
      subscription.cancel();
      body.onError(new IOException("the response is none to this request"));
    }
  }

  @Override
  public void onError(Throwable failure) {
    body.onError(failure);
  }

  @Override
  public void onComplete() {
    body.onComplete();
  }
}
