/** Defines the plant records, the port for creating plants, and the port for storing them. */
@org.jspecify.annotations.NullMarked
module org.plantstore.domain {
  requires static transitive org.jspecify;

  exports org.plantstore.domain;
}
