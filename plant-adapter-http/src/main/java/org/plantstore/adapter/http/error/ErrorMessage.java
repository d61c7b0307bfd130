package org.plantstore.adapter.http.error;

import io.micronaut.serde.annotation.Serdeable;

/**
 * The schema {@code Error} of the contract.
 *
 * @param error a number of the catalogue
 * @param message what is wrong and what to do
 */
@Serdeable.Serializable
public record ErrorMessage(int error, String message) {}
