/**
 * What people and tools read about the interface: the OpenAPI document, the page that shows it, and
 * the page of errors. It takes no part in a create.
 */
@NullMarked
package org.plantstore.adapter.http.document;

import org.jspecify.annotations.NullMarked;
