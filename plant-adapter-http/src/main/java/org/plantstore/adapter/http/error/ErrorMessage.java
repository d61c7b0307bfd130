package org.plantstore.adapter.http.error;

import io.micronaut.serde.annotation.Serdeable;

/** The contract's Error: a number of the catalogue, and what is wrong and what to do. */
@Serdeable.Serializable
public record ErrorMessage(int error, String message) {}
