/** The certificate and the key of the API's port: reads and checks them, and renews them. */
@NullMarked
package org.plantstore.adapter.http.tls;

import org.jspecify.annotations.NullMarked;
