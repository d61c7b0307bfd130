/**
 * The handlers between the socket and the framework: strict HTTP/1.1 (RFC 9112), TLS, and limits of
 * connections, time and memory. It depends neither on tokens nor on plants.
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
