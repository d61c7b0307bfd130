/** Provides the use case that creates plants. */
@NullMarked
package org.plantstore.application;

import org.jspecify.annotations.NullMarked;
