/** Serves the OpenAPI document, the API console page, and the error page. */
@NullMarked
package org.plantstore.adapter.http.document;

import org.jspecify.annotations.NullMarked;
