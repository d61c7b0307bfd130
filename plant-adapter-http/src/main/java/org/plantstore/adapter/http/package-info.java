/**
 * {@code POST /plants}: the controller, the JSON of a plant, deadlines, and the response to each
 * failure.
 */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
