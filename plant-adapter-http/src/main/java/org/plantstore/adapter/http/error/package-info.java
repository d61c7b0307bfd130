/** The catalog of errors, and the exception that refuses a request with one of them. */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
