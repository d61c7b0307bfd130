/** The errors that clients can get: their catalogue, the body of an answer, and the exception. */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
