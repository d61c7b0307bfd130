/** Strict HTTP/1.1 (RFC 9112), TLS, and limits of connections, time and memory. */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
