/** Serves the OpenAPI document, the console page, and the error page. */
@NullMarked
package org.plantstore.adapter.http.document;

import org.jspecify.annotations.NullMarked;
