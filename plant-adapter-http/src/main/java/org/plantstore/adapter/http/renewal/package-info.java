/** Reads values from files, and reloads them without a restart when the files change. */
@NullMarked
package org.plantstore.adapter.http.renewal;

import org.jspecify.annotations.NullMarked;
