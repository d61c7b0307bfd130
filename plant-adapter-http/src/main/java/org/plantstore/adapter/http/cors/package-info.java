/** Decides which web pages from other origins may call the service and read its responses. */
@NullMarked
package org.plantstore.adapter.http.cors;

import org.jspecify.annotations.NullMarked;
