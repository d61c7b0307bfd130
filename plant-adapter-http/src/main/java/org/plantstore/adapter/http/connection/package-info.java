/**
 * Strict HTTP/1.1 (RFC 9112), and the limits on connections, time, and memory. Each connection is a
 * state machine that {@code Connection} owns. The other handlers report events to it:
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
 * <table>
 *   <caption>Input and timeout in each state</caption>
 *   <tr><th>state</th><th>input</th><th>timeout</th></tr>
 *   <tr><td>IDLE</td><td>decoded</td><td>IDLE_TIMEOUT_SECONDS</td></tr>
 *   <tr>
 *     <td>RECEIVING</td>
 *     <td>decoded; may wait in the socket while the memory for requests is exhausted</td>
 *     <td>REQUEST_TIMEOUT_SECONDS, which start again when reading resumes</td>
 *   </tr>
 *   <tr>
 *     <td>RESPONDING</td>
 *     <td>at most one read is buffered, and decoded in the next state</td>
 *     <td>none</td>
 *   </tr>
 *   <tr><td>DISCARDING</td><td>decoded and dropped</td><td>REQUEST_TIMEOUT_SECONDS</td></tr>
 *   <tr><td>CLOSING</td><td>at most one read is buffered</td><td>REQUEST_TIMEOUT_SECONDS</td></tr>
 * </table>
 *
 * <p>A TLS handshake counts as RECEIVING. When it is complete, the state returns to IDLE. If a
 * client stops reading a response, the connection is closed after REQUEST_TIMEOUT_SECONDS, whatever
 * its state. While the memory for requests is exhausted, REQUEST_TIMEOUT_SECONDS counts as at most
 * two seconds.
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
