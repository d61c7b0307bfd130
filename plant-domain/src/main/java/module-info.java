/** Defines the plant records and the ports for creating and storing plants. */
@org.jspecify.annotations.NullMarked
module org.plantstore.domain {
  requires static transitive org.jspecify;

  exports org.plantstore.domain;
}
