/** Assembles the service from the use case and the adapters on the class path. */
@NullMarked
package org.plantstore.app;

import org.jspecify.annotations.NullMarked;
