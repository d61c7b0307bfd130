/** Whether a service answers as the document that it serves says. For tests of whole services. */
@NullMarked
package org.plantstore.adapter.http.document;

import org.jspecify.annotations.NullMarked;
