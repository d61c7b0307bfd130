/** Values that are read from files again when the files change, without a restart. */
@NullMarked
package org.plantstore.adapter.http.renewal;

import org.jspecify.annotations.NullMarked;
