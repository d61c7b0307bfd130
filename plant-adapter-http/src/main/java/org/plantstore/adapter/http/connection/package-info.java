/**
 * Enforces the rules of HTTP/1.1 (RFC 9112) strictly, and limits the number of connections, the
 * time that clients can take, and the memory that requests occupy. The handlers in this package
 * report events to {@code Connection}, which tracks the state of one connection.
 *
 * <pre>
 *         first byte of          request            response complete,
 *         a request              complete           connection stays open
 *   IDLE ─────────────▶ RECEIVING ───────▶ RESPONDING ───────────────────▶ IDLE
 *                           │                  │
 *                           │ response         │ response complete,
 *                           │ complete         │ connection must be closed
 *                           ▼                  ▼
 *                       DISCARDING ───────▶ CLOSING ──────▶ channel closed
 *                                  request          response
 *                                  complete         written
 * </pre>
 *
 * <p>A request or response is complete when its {@code LastHttpContent} has passed through {@code
 * RequestFlow}. If the response is complete before the request is, the rest of the request is read
 * and discarded. If the socket were closed with unread input, the kernel would reset the
 * connection, and the client could lose the response.
 *
 * <pre>
 *   state       input                               timeout
 *   ──────────  ──────────────────────────────────  ────────────────────────────────
 *   IDLE        decoded                             IDLE_TIMEOUT_SECONDS
 *   RECEIVING   decoded, but not read while the     REQUEST_TIMEOUT_SECONDS, started
 *               memory for requests is exhausted    again when reading resumes
 *   RESPONDING  at most one read, decoded later     none
 *   DISCARDING  decoded and dropped                 REQUEST_TIMEOUT_SECONDS
 *   CLOSING     at most one read, never decoded     REQUEST_TIMEOUT_SECONDS
 * </pre>
 *
 * <p>The state is also RECEIVING during a TLS handshake, and returns to IDLE when the handshake is
 * complete. If one read contains the end of the handshake and only the beginning of the next TLS
 * record, the state is IDLE until more bytes arrive. A TLS 1.3 KeyUpdate message on an idle
 * connection counts as the beginning of a request. If a client stops reading a response, the
 * connection is closed after REQUEST_TIMEOUT_SECONDS, regardless of the connection's state. While
 * the memory for requests is exhausted, a timeout of two seconds replaces REQUEST_TIMEOUT_SECONDS,
 * unless the configured timeout is shorter.
 *
 * <p>Three limits apply to heap usage. First, the bodies of all requests together are limited to an
 * eighth of the heap ({@code ConnectionPipeline}). Up to four copies of a plant can be in memory at
 * once, so all copies of all plants together occupy at most half of the heap. Second, the requests
 * and responses of slow clients are limited to about an eighth of the heap ({@code RequestMemory}).
 * Some requests are exempt from this second limit, so the requests and responses of slow clients
 * can occupy up to a quarter of the heap. Third, JSON parsing is limited to a quarter of the heap,
 * unless a single body requires more ({@code NewPlantReader}). A single body requires at most 14/32
 * of the heap, because MAX_BODY_BYTES is at most 1/32 of the heap, and parsing a body takes up to
 * 14 times its size. Together, these limits allow slightly more than the size of the heap, but they
 * are not reached at the same time.
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
