/** The plant store as a service: puts the use case and whatever adapters are there together. */
@NullMarked
package org.plantstore.app;

import org.jspecify.annotations.NullMarked;
