/** Implements the port {@link org.plantstore.domain.CreatePlant} over HTTP. */
@NullMarked
package org.plantstore.client;

import org.jspecify.annotations.NullMarked;
