package org.plantstore.client;

import static java.util.Objects.requireNonNull;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * Receives the body of a response up to a maximum size. If the body is larger, the rest is not
 * read, and the connection is closed.
 */
final class BoundedBody implements BodySubscriber<byte[]> {

  private final long maxBytes;
  private final ByteArrayOutputStream received = new ByteArrayOutputStream();
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private @Nullable Subscription subscription;

  BoundedBody(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Subscription parts) {
    subscription = parts;
    parts.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> parts) {
    for (ByteBuffer part : parts) {
      byte[] bytes = new byte[(int) Math.min(part.remaining(), maxBytes - received.size())];
      part.get(bytes);
      received.writeBytes(bytes);
      if (part.hasRemaining()) {
        requireNonNull(subscription).cancel();
        onComplete();
        return;
      }
    }
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    body.complete(received.toByteArray());
  }
}
