/** The service on a developer's machine: {@code mvn -Pdev}. Not part of any artifact. */
@NullMarked
package org.plantstore.app.development;

import org.jspecify.annotations.NullMarked;
