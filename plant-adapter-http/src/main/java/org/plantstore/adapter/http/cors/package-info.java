/** Cross-origin requests: which web pages may call the service and read its responses. */
@NullMarked
package org.plantstore.adapter.http.cors;

import org.jspecify.annotations.NullMarked;
