/**
 * What operators see of requests: their ids in answers and log lines, metrics, the access log. It
 * changes no answer but for the header with the id.
 */
@NullMarked
package org.plantstore.adapter.http.observe;

import org.jspecify.annotations.NullMarked;
