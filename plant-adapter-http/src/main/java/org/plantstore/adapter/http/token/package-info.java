/** Validates the bearer tokens in requests (RFC 6750, RFC 7519, RFC 8725). */
@NullMarked
package org.plantstore.adapter.http.token;

import org.jspecify.annotations.NullMarked;
