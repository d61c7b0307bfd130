/**
 * Measures the packaged service on a durable PostgreSQL: {@code mvn -Pbench}. {@link
 * org.plantstore.bench.Part} lists the figures. Not part of any artifact.
 */
@NullMarked
package org.plantstore.bench;

import org.jspecify.annotations.NullMarked;
