/** The rules of {@link org.plantstore.domain.PlantStore} as executable tests. */
@NullMarked
package org.plantstore.domain.contract;

import org.jspecify.annotations.NullMarked;
