/**
 * Plants, the port that creates them and the port that stores them.
 *
 * <p>Callers create plants with {@link org.plantstore.domain.CreatePlant}. Databases implement
 * {@link org.plantstore.domain.PlantStore}. The type of an exception determines what the caller can
 * do:
 *
 * <table>
 *   <caption>Exceptions and what the caller can do</caption>
 *   <tr><th>exception</th><th>what to do</th></tr>
 *   <tr><td>{@link org.plantstore.domain.InvalidPlantException}</td><td>change the plant</td></tr>
 *   <tr><td>{@link org.plantstore.domain.PlantIdTakenException}</td><td>choose another id</td></tr>
 *   <tr><td>{@link org.plantstore.domain.PlantStoreUnavailableException}</td>
 *       <td>retry later with the same plant, which is always safe</td></tr>
 * </table>
 *
 * <p>Every parameter and every return value is non-null unless it is marked {@code @Nullable}.
 */
@NullMarked
package org.plantstore.domain;

import org.jspecify.annotations.NullMarked;
