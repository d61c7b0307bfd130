/**
 * Decides whether the bearer token of a request is valid (RFC 6750, RFC 7519, RFC 8725): settings,
 * keys, the check and its cache. It does not know what the caller wants.
 */
@NullMarked
package org.plantstore.adapter.http.token;

import org.jspecify.annotations.NullMarked;
