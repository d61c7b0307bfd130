/**
 * Handles {@code POST /plants}: the controller, the JSON parser, the deadlines, and the response to
 * every failure.
 */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
