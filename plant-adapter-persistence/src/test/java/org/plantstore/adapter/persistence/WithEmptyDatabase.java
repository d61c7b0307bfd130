package org.plantstore.adapter.persistence;

import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import org.junit.jupiter.api.BeforeEach;

/** Each test begins with an empty database. */
public interface WithEmptyDatabase {

  @BeforeEach
  default void reset() {
    SERVER.reset();
  }
}
