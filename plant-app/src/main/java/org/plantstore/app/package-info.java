/** The plant store as a service: the use case, with the adapters on the class path. */
@NullMarked
package org.plantstore.app;

import org.jspecify.annotations.NullMarked;
