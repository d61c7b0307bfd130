/**
 * The errors that clients can get: the catalogue of their numbers with the link to each entry, the
 * body of an answer, and the exception that leads to it. Where an error is raised is not known
 * here.
 */
@NullMarked
package org.plantstore.adapter.http.error;

import org.jspecify.annotations.NullMarked;
