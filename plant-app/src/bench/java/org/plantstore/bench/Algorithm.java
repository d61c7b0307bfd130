package org.plantstore.bench;

/** The signature of a token. */
enum Algorithm {
  HS256,
  RS256,
  ES256
}
