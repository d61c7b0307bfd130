/**
 * {@code POST /plants}: the controller, the reading and writing of JSON, the answer to each
 * failure, and the settings. The packages below, for tokens, metrics and connections, do not depend
 * on this one.
 */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
