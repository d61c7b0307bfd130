/**
 * Strict HTTP/1.1 (RFC 9112), TLS, and limits of connections, time and memory.
 *
 * <p>The heap has three shares, which do not peak together: a half for plants, as the bodies of all
 * take at most an eighth ({@code ConnectionPipeline}); an eighth for requests and answers that wait
 * for their clients ({@code SlowClients}); and 14 times the bytes of the one body that is read, so
 * at most 14 of 32 parts ({@code MAX_BODY_BYTES}).
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
