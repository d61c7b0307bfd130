/** Provides an implementation of {@link org.plantstore.domain.CreatePlant} that uses HTTP. */
@NullMarked
package org.plantstore.client;

import org.jspecify.annotations.NullMarked;
