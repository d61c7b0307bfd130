/** Keeps plants in PostgreSQL 14 or later. */
@NullMarked
package org.plantstore.adapter.persistence;

import org.jspecify.annotations.NullMarked;
