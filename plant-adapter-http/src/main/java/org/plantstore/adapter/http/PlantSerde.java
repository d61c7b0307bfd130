package org.plantstore.adapter.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.micronaut.serde.annotation.SerdeImport;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.Plant;

/** How a plant of the domain is written: an absent tag is left out, an empty one is not. */
@SerdeImport(value = Plant.class, mixin = PlantSerde.class, deserializable = false)
@JsonInclude(JsonInclude.Include.NON_NULL)
record PlantSerde(String name, @Nullable String tag) {}
