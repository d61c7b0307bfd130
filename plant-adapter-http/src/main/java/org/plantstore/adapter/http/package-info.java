/**
 * {@code POST /plants}: the controller, the exact reading and writing of JSON, the answer to each
 * failure, and the settings. Who may pass, what is measured and how connections are kept in bounds
 * is in the packages below; none of them knows this one.
 */
@NullMarked
package org.plantstore.adapter.http;

import org.jspecify.annotations.NullMarked;
