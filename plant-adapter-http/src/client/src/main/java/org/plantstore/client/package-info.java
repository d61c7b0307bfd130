/**
 * Creates plants in a remote plant store: {@link org.plantstore.client.PlantClient} implements the
 * port {@link org.plantstore.domain.CreatePlant} over HTTP.
 *
 * <p>Every parameter and every return value is non-null unless it is marked {@code @Nullable}.
 */
@NullMarked
package org.plantstore.client;

import org.jspecify.annotations.NullMarked;
