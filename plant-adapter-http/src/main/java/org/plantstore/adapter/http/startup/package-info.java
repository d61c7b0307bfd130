/** The adapter's settings: their defaults, their validation during startup, and {@code check}. */
@NullMarked
package org.plantstore.adapter.http.startup;

import org.jspecify.annotations.NullMarked;
