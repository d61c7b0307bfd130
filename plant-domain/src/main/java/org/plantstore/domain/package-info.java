/**
 * Plants and the two ports around them.
 *
 * <p>Who wants a plant created calls {@link org.plantstore.domain.CreatePlant}; who keeps plants
 * implements {@link org.plantstore.domain.PlantStore}. The type of an exception says what to do
 * next:
 *
 * <table>
 *   <caption>Exceptions and what they ask of the caller</caption>
 *   <tr><th>exception</th><th>what to do</th></tr>
 *   <tr><td>{@link org.plantstore.domain.InvalidPlantException}</td><td>change the plant</td></tr>
 *   <tr><td>{@link org.plantstore.domain.PlantIdTakenException}</td><td>choose another id</td></tr>
 *   <tr><td>{@link org.plantstore.domain.PlantStoreUnavailableException}</td>
 *       <td>try again later with the same plant, which is always safe</td></tr>
 * </table>
 *
 * <p>Every parameter and every answer is non-null unless it is marked {@code @Nullable}.
 */
@NullMarked
package org.plantstore.domain;

import org.jspecify.annotations.NullMarked;
