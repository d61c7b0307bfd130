/** Records requests: their ids, their metrics, and the access log. */
@NullMarked
package org.plantstore.adapter.http.observe;

import org.jspecify.annotations.NullMarked;
