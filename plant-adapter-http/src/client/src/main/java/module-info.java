/** Provides an implementation of {@link org.plantstore.domain.CreatePlant} that uses HTTP. */
@org.jspecify.annotations.NullMarked
module org.plantstore.client {
  requires static org.jspecify;
  requires transitive java.net.http;
  requires transitive org.plantstore.domain;
  requires com.fasterxml.jackson.core;

  exports org.plantstore.client;
}
