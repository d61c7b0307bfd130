package org.plantstore.adapter.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import io.micronaut.core.type.Argument;
import io.micronaut.core.type.MutableHeaders;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.body.MessageBodyWriter;
import io.micronaut.http.codec.CodecException;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.OutputStream;
import org.plantstore.domain.Plant;

/** Writes the Plant of the contract: an absent tag is left out, an empty one is not. */
@Singleton
@Produces(MediaType.APPLICATION_JSON)
final class PlantWriter implements MessageBodyWriter<Plant> {

  /** Buffers are shared: threads that serve one request each would each make their own. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
          .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
          .build();

  @Override
  public void writeTo(
      Argument<Plant> type,
      MediaType mediaType,
      Plant plant,
      MutableHeaders headers,
      OutputStream output) {
    try (JsonGenerator json = JSON.createGenerator(output)) {
      json.writeStartObject();
      json.writeStringField("name", plant.name());
      if (plant.tag() != null) {
        json.writeStringField("tag", plant.tag());
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new CodecException("the body, which is in memory, cannot be written", e);
    }
  }
}
