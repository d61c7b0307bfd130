package org.plantstore.adapter.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.buffer.netty.NettyByteBufferFactory;
import io.micronaut.core.type.Argument;
import io.micronaut.http.simple.SimpleHttpHeaders;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.NewPlant;

/** Who gives back the memory of a body; what bodies mean is shown by {@link CreatePlantTest}. */
class NewPlantReaderTest {

  private final NewPlantReader reader = new NewPlantReader();

  @Test
  void body_that_was_read_is_released() {
    ByteBuf body = body("{\"id\":1,\"name\":\"fern\"}");

    assertEquals(new NewPlant(1, "fern", null), read(body));
    assertEquals(0, body.refCnt());
  }

  @Test
  void body_that_is_refused_is_left_to_the_caller() {
    ByteBuf body = body("{}");

    assertThrows(RefusedException.class, () -> read(body));
    assertEquals(1, body.refCnt());
    body.release();
  }

  private NewPlant read(ByteBuf body) {
    return reader.read(
        Argument.of(NewPlant.class),
        null,
        new SimpleHttpHeaders(Map.of("Content-Type", "application/json"), null),
        NettyByteBufferFactory.DEFAULT.wrap(body));
  }

  private static ByteBuf body(String json) {
    return ByteBufUtil.writeUtf8(UnpooledByteBufAllocator.DEFAULT, json);
  }
}
