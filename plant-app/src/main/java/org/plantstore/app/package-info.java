/** Combines the use case and the adapters on the class path into a service. */
@NullMarked
package org.plantstore.app;

import org.jspecify.annotations.NullMarked;
