/**
 * Runs the service on a developer's machine ({@code mvn -Pdev}). No artifact contains this package.
 */
@NullMarked
package org.plantstore.app.development;

import org.jspecify.annotations.NullMarked;
