package org.plantstore.domain.counterexample;

import java.sql.Connection;
import org.plantstore.application.PlantCreation;

/**
 * Breaks the architecture, to show that breaking it is noticed: the domain knows what is outside.
 */
public record DomainThatKnowsTooMuch(PlantCreation useCase, Connection database) {}
