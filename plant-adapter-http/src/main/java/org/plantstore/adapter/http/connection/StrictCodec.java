package org.plantstore.adapter.http.connection;

import io.netty.channel.CombinedChannelDuplexHandler;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import org.plantstore.adapter.http.observe.UnansweredExchanges;

/**
 * A {@link RequestDecoder} and an encoder that knows which answers have no body. One per
 * connection, used by its event loop alone.
 */
final class StrictCodec extends CombinedChannelDuplexHandler<RequestDecoder, HttpResponseEncoder> {

  StrictCodec(RequestDecoder decoder, UnansweredExchanges unanswered) {
    super(decoder, new ResponseEncoder(unanswered));
  }

  private static final class ResponseEncoder extends HttpResponseEncoder {

    private final UnansweredExchanges unanswered;

    ResponseEncoder(UnansweredExchanges unanswered) {
      this.unanswered = unanswered;
    }

    @Override
    protected boolean isContentAlwaysEmpty(HttpResponse response) {
      return unanswered.answersHead() || super.isContentAlwaysEmpty(response);
    }
  }
}
