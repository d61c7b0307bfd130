/** Records the id and the metrics of each request, and writes the access log. */
@NullMarked
package org.plantstore.adapter.http.observe;

import org.jspecify.annotations.NullMarked;
