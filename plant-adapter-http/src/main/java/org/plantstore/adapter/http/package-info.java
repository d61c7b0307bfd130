/** Contains the controller, parser, deadlines, and error responses for {@code POST /plants}. */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
