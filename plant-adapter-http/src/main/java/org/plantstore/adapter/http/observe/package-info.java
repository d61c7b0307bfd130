/**
 * What operators see of requests: their ids in answers and log lines, metrics, the access log. It
 * changes nothing of an answer but the headers that all answers have.
 */
@NullMarked
package org.plantstore.adapter.http.observe;

import org.jspecify.annotations.NullMarked;
