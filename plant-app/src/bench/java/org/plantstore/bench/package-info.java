/**
 * Measures the packaged service with a durable PostgreSQL database. {@code mvn -Pbench} runs the
 * benchmark, and {@link org.plantstore.bench.Figures} lists the figures. This package is not part
 * of any artifact.
 */
@NullMarked
package org.plantstore.bench;

import org.jspecify.annotations.NullMarked;
