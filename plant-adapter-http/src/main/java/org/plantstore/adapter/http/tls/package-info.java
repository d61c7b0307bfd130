/** Reads, checks, and renews the certificate and the private key of the API's port. */
@NullMarked
package org.plantstore.adapter.http.tls;

import org.jspecify.annotations.NullMarked;
