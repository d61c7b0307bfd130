/** Plants, the port that creates them and the port that stores them. */
@org.jspecify.annotations.NullMarked
module org.plantstore.domain {
  requires static transitive org.jspecify;

  exports org.plantstore.domain;
}
