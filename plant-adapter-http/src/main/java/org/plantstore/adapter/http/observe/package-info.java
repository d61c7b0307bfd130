/** Request ids, metrics, the access log, and the headers that all answers have. */
@NullMarked
package org.plantstore.adapter.http.observe;

import org.jspecify.annotations.NullMarked;
