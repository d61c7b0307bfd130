/** Contains the controller, the parser, the deadlines, and the errors of {@code POST /plants}. */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
