/**
 * Measures the packaged service on a durable PostgreSQL: {@code mvn -Pbench}. {@link
 * org.plantstore.bench.Figures} lists the figures. Not part of any artifact.
 */
@NullMarked
package org.plantstore.bench;

import org.jspecify.annotations.NullMarked;
