package org.plantstore.adapter.http;

import io.micronaut.serde.annotation.Serdeable;

/** The contract's Error: a number of the catalogue, and a text with the fault and its cure. */
@Serdeable.Serializable
record ErrorMessage(int error, String message) {}
