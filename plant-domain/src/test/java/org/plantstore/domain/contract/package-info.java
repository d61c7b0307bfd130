/**
 * Provides the contract test kit, which tests implementations of {@link
 * org.plantstore.domain.PlantStore} and {@link org.plantstore.domain.CreatePlant}.
 */
@NullMarked
package org.plantstore.domain.contract;

import org.jspecify.annotations.NullMarked;
