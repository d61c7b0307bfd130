/**
 * Provides the plant records, the port for creating plants, and the port for storing them.
 *
 * <p>Callers create plants with {@link org.plantstore.domain.CreatePlant}. Database adapters
 * implement {@link org.plantstore.domain.PlantStore}. The type of an exception tells the caller
 * what to do next.
 *
 * <ul>
 *   <li>After an {@link org.plantstore.domain.InvalidPlantException}, the caller must change the
 *       plant.
 *   <li>After a {@link org.plantstore.domain.PlantIdTakenException}, the caller must choose another
 *       id.
 *   <li>After a {@link org.plantstore.domain.PlantStoreUnavailableException}, the caller can retry
 *       later with the same plant, which is always safe.
 * </ul>
 *
 * <p>Every parameter and every return value is non-null unless it is marked {@code @Nullable}.
 */
@NullMarked
package org.plantstore.domain;

import org.jspecify.annotations.NullMarked;
