/**
 * The errors that clients can get: the catalogue of their numbers, the body of an answer, and the
 * exception that leads to it, and the link to its entry. Where an error is raised is not known
 * here.
 */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
