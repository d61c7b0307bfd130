/** The error catalog, and the exception that rejects a request with one of its errors. */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
