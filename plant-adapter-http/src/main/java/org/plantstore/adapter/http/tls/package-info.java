/** Reads, checks, and reloads the certificate and the private key for the API port. */
@NullMarked
package org.plantstore.adapter.http.tls;

import org.jspecify.annotations.NullMarked;
