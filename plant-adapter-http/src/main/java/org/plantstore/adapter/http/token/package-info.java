/**
 * Decides whether a request may pass (RFC 6750, RFC 7519, RFC 8725): settings, keys, the check and
 * its cache. It knows nothing of plants, and the answer of a 401 is written elsewhere.
 */
@NullMarked
package org.plantstore.adapter.http.token;

import org.jspecify.annotations.NullMarked;
