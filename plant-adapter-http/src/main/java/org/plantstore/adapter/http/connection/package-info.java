/**
 * What stands between the socket and the framework: the strict reading of HTTP/1.1 (RFC 9112),
 * limits of connections, of time and of memory, the drain before a stop, and the way off the event
 * loop. It knows neither tokens nor plants.
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
