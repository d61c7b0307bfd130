/** The use cases of the plant store. */
@NullMarked
package org.plantstore.application;

import org.jspecify.annotations.NullMarked;
