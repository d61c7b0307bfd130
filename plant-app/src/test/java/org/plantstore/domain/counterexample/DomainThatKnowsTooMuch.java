package org.plantstore.domain.counterexample;

import java.sql.Connection;
import org.plantstore.application.PlantCreation;

/**
 * A violation that {@link ArchitectureTest} must find: the domain depends on code outside of it.
 */
public record DomainThatKnowsTooMuch(PlantCreation useCase, Connection database) {}
