/** The errors that clients can get: their catalogue, and the exception. */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
