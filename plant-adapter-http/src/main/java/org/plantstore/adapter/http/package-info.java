/** Serves {@code POST /plants} over HTTP, to callers with a bearer token. */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
