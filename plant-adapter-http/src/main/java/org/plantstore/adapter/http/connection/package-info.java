/**
 * Strict HTTP/1.1 (RFC 9112), and limits of connections, time and memory. {@code Connection} owns
 * the state of a connection; the other handlers report events to it:
 *
 * <pre>
 *            first byte             last byte              last byte
 *            of a request           of the request         of the response
 *   IDLE ───────────────▶ RECEIVING ──────────▶ ANSWERING ───────────────▶ IDLE
 *                             │                     │
 *                             │ response ends       │ response ends,
 *                             │ before the request  │ and it is the last one
 *                             ▼                     ▼
 *                        DISCARDING ──────────▶ CLOSING
 *                              last byte of the request
 * </pre>
 *
 * <table>
 *   <caption>What happens in a state</caption>
 *   <tr><th>state</th><th>input</th><th>time-out</th></tr>
 *   <tr><td>IDLE</td><td>is decoded</td><td>IDLE_TIMEOUT_SECONDS</td></tr>
 *   <tr>
 *     <td>RECEIVING</td>
 *     <td>is decoded, or waits in the socket while the memory for requests is exhausted</td>
 *     <td>REQUEST_TIMEOUT_SECONDS, without the time in which the input waits</td>
 *   </tr>
 *   <tr>
 *     <td>ANSWERING</td>
 *     <td>stays encoded until the response is complete, and fills one read</td>
 *     <td>none</td>
 *   </tr>
 *   <tr><td>DISCARDING</td><td>is decoded and dropped</td><td>REQUEST_TIMEOUT_SECONDS</td></tr>
 *   <tr><td>CLOSING</td><td>is not read</td><td>REQUEST_TIMEOUT_SECONDS</td></tr>
 * </table>
 *
 * <p>A TLS handshake is RECEIVING too, and IDLE follows it. In every state, a client that does not
 * read has REQUEST_TIMEOUT_SECONDS for its next byte.
 *
 * <p>Three parts of the heap are bounded. Plants take at most half, because the bodies of all take
 * at most an eighth ({@code ConnectionPipeline}). Requests and responses whose clients are slow
 * take about an eighth ({@code RequestMemory}). Parsing takes 14 times the bytes of one body, so at
 * most 14 of 32 parts ({@code MAX_BODY_BYTES}). These parts do not reach their bounds together.
 */
@NullMarked
package org.plantstore.adapter.http.connection;

import org.jspecify.annotations.NullMarked;
