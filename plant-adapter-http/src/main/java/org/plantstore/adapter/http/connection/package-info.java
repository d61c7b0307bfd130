/**
 * Enforces strict HTTP/1.1 (RFC 9112), and limits connections, time, and memory. Each connection is
 * a state machine, which {@code Connection} implements. The other handlers report events to {@code
 * Connection}.
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
 * <p>A request or response is complete when its {@code LastHttpContent} has passed {@code
 * RequestFlow}. If the response is complete before the request, the rest of the request is
 * discarded, because closing a socket with unread input would reset the connection, and the client
 * could lose the response.
 *
 * <pre>
 *   state       input                               timeout
 *   ──────────  ──────────────────────────────────  ────────────────────────────────
 *   IDLE        decoded                             IDLE_TIMEOUT_SECONDS
 *   RECEIVING   decoded, but not read while the     REQUEST_TIMEOUT_SECONDS, started
 *               memory for requests is exhausted    again when reading resumes
 *   RESPONDING  one read at most, decoded later     none
 *   DISCARDING  decoded and dropped                 REQUEST_TIMEOUT_SECONDS
 *   CLOSING     one read at most, never decoded     REQUEST_TIMEOUT_SECONDS
 * </pre>
 *
 * <p>A TLS handshake counts as RECEIVING, and the state returns to IDLE when the handshake is
 * complete. If a client stops reading a response, the connection is closed after
 * REQUEST_TIMEOUT_SECONDS, whatever its state. While the memory for requests is exhausted, the
 * timeout is two seconds if REQUEST_TIMEOUT_SECONDS is longer.
 *
 * <p>Three uses of the heap are limited. The bodies of all requests take at most an eighth of the
 * heap, so all plants together take at most half ({@code ConnectionPipeline}). Requests and
 * responses of slow clients take about an eighth ({@code RequestMemory}). MAX_BODY_BYTES is at most
 * 1/32 of the heap, and parsing takes 14 times the size of a body, so parsing takes at most 14/32.
 * The three limits add up to more than the heap, but they are not reached at the same time.
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
