/**
 * The errors that clients can get: the catalogue of their numbers, the body of an answer, and the
 * exception that leads to it. It does not know what causes an error.
 */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
