package org.plantstore.adapter.persistence.database;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DatabaseAccessTest {

  @Test
  void account_as_text_does_not_tell_the_password() {
    assertEquals(
        "plants at jdbc:postgresql://localhost/plants",
        new DatabaseAccess("jdbc:postgresql://localhost/plants", "plants", "secret").toString());
  }
}
