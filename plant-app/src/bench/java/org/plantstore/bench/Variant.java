package org.plantstore.bench;

/** A way to start the service. */
enum Variant {
  /** As packaged, with an AOT cache if there is one. */
  PACKAGED,
  /** As packaged; does not start without the AOT cache. */
  REQUIRING_CACHE,
  /** As packaged, without the AOT cache. */
  WITHOUT_CACHE,
  /** Another build, without an AOT cache. */
  OTHER_BUILD,
  /** On another database, without an AOT cache. */
  OTHER_DATABASE,
  /** With {@link OneInsertPlantStore} as its store, without the AOT cache. */
  ONE_INSERT,
  /** With tokens of an identity provider instead of a shared secret. */
  KEY_SET,
  /** With the access log as text. */
  TEXT_LOG,
  /** With the access log as JSON. */
  JSON_LOG,
  /** With TLS. */
  TLS,
  /** {@link Echo}, in place of the service. */
  ECHO
}
