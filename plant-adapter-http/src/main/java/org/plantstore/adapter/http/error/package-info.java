/** Contains the error catalog, and the exception that is thrown to reject a request. */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
