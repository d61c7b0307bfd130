/**
 * Defines the plant records and the ports for creating and storing plants.
 *
 * <p>Callers create plants with {@link org.plantstore.domain.CreatePlant}. Database adapters
 * implement {@link org.plantstore.domain.PlantStore}. The type of an exception determines what the
 * caller should do next.
 *
 * <ul>
 *   <li>If a call throws {@link org.plantstore.domain.InvalidPlantException}, the caller must
 *       correct the plant before trying again.
 *   <li>If a call throws {@link org.plantstore.domain.PlantIdTakenException}, the caller must
 *       choose another id before trying again.
 *   <li>If a call throws {@link org.plantstore.domain.PlantStoreUnavailableException}, the caller
 *       can safely retry later with the same plant.
 * </ul>
 *
 * <p>Parameters and return values are non-null unless they are annotated with {@code @Nullable}.
 */
@NullMarked
package org.plantstore.domain;

import org.jspecify.annotations.NullMarked;
