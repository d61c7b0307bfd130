/**
 * Measures the packaged service on a durable PostgreSQL, and compares it with what it is to beat:
 * {@code mvn -Pbench}. Not part of any artifact.
 */
@NullMarked
package org.plantstore.bench;

import org.jspecify.annotations.NullMarked;
