/** Values in files that are replaced without a restart. */
@NullMarked
package org.plantstore.adapter.http.renewal;

import org.jspecify.annotations.NullMarked;
