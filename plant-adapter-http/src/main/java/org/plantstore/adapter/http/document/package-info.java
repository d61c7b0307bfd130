/** The documentation of the interface: the OpenAPI document, its page, and the error page. */
@NullMarked
package org.plantstore.adapter.http.document;

import org.jspecify.annotations.NullMarked;
