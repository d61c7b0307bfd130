/**
 * Supplies the defaults of the adapter's settings, validates the settings during startup, and
 * reports on them in the {@code check} command.
 */
@NullMarked
package org.plantstore.adapter.http.startup;

import org.jspecify.annotations.NullMarked;
