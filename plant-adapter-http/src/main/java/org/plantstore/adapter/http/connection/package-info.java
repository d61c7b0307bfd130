/**
 * Strict HTTP/1.1 (RFC 9112), TLS, and limits of connections, time and memory.
 *
 * <p>The heap has three shares, which do not peak together: an eighth for bodies, of which text,
 * row and answer make half of the heap ({@code ConnectionPipeline}); an eighth for requests and
 * answers that wait for their clients ({@code SlowClients}); and, for one body at a time, 14 times
 * its bytes to read it, so at most 14 of 32 parts ({@code MAX_BODY_BYTES}).
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
