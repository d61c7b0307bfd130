/** {@code POST /plants}: the controller, JSON, the answer to each failure, and the settings. */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
