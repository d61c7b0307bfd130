/** Request ids, metrics and the access log. Of an answer it sets only the headers common to all. */
@NullMarked
package org.plantstore.adapter.http.observe;

import org.jspecify.annotations.NullMarked;
