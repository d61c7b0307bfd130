/**
 * What stands between the socket and the framework: the strict reading of HTTP/1.1 (RFC 9112),
 * limits of connections, of time and of memory, and the drain before a stop. It knows neither paths
 * nor tokens nor plants.
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
