package org.plantstore.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ObjectStreamClass;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.plantstore.domain.InvalidPlantException.Violation;

class PlantTest {

  private static final String HIGH = "\uD83C";
  private static final String LOW = "\uDF3F";

  @Test
  void any_text_without_u0000_and_unpaired_surrogates_is_a_valid_name_and_tag() {
    for (String text : List.of("", " ", "\u0001", "fern " + HIGH + LOW, "\uFFFF", "\uDBFF\uDFFF")) {
      assertEquals(text, new Plant(text, null).name());
      assertEquals(text, new Plant("", text).tag());
    }
  }

  @Test
  void violation_states_the_index_of_u0000_or_of_an_unpaired_surrogate() {
    String rule = "must not contain U+0000 (found at index %s)";
    assertViolation("name", rule.formatted(0), "\0", null);
    assertViolation("tag", rule.formatted(4), "fern", "tag \0");
    rule = "must not contain an unpaired surrogate (found at index %s)";
    assertViolation("name", rule.formatted(0), HIGH, null);
    assertViolation("name", rule.formatted(1), "a" + LOW, null);
    assertViolation("name", rule.formatted(0), HIGH + "a", null);
    assertViolation("name", rule.formatted(0), LOW + HIGH, null);
    assertViolation("name", rule.formatted(2), HIGH + LOW + LOW, null);
    assertViolation("name", rule.formatted(0), HIGH + HIGH + LOW, null);
    assertViolation("tag", rule.formatted(3), "", "tag" + HIGH);
  }

  @Test
  void every_invalid_field_is_named_in_order() {
    InvalidPlantException invalid =
        assertThrows(InvalidPlantException.class, () -> new NewPlant(1, "\0", HIGH));

    assertEquals(
        List.of("name", "tag"), invalid.violations().stream().map(Violation::field).toList());
    assertEquals(
        "name must not contain U+0000 (found at index 0); "
            + "tag must not contain an unpaired surrogate (found at index 0)",
        invalid.getMessage());
  }

  @Test
  void exception_refuses_a_plant_only_if_a_store_created_it() {
    NewPlant fern = new NewPlant(1, "fern", null);
    List<Violation> violations = List.of(new Violation("name", "must be shorter"));
    InvalidPlantException rejection = new InvalidPlantException(fern, violations);

    assertTrue(rejection.refuses(new NewPlant(1, "fern", null)));
    assertFalse(rejection.refuses(new NewPlant(1, "fern", "")));
    assertFalse(
        assertThrows(InvalidPlantException.class, () -> new NewPlant(1, "\0", null)).refuses(fern));
    assertThrows(IllegalArgumentException.class, () -> new InvalidPlantException(fern, List.of()));
  }

  @Test
  @SuppressWarnings("NullAway") // this test passes null
  void null_is_rejected() {
    assertThrows(NullPointerException.class, () -> new Plant(null, null));
    assertThrows(NullPointerException.class, () -> new NewPlant(1, null, null));
    assertThrows(NullPointerException.class, () -> new Violation(null, "must not be null"));
    assertThrows(NullPointerException.class, () -> new Violation("name", null));
    assertThrows(NullPointerException.class, () -> new PlantStoreUnavailableException(null));
    List<Violation> violations = List.of(new Violation("name", "must be shorter"));
    assertThrows(NullPointerException.class, () -> new InvalidPlantException(null, violations));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "InvalidPlantException | 1 | [[Lorg/plantstore/domain/InvalidPlantException$Violation; violations]",
        "InvalidPlantException$Violation | 0 | [Ljava/lang/String; field, Ljava/lang/String; rule]",
        "PlantIdTakenException | 1 | [J id]",
        "PlantStoreUnavailableException | 1 | []"
      })
  void serialized_form_matches_the_published_form(String name, long version, String fields)
      throws ClassNotFoundException {
    ObjectStreamClass form =
        ObjectStreamClass.lookup(Class.forName("org.plantstore.domain." + name));

    assertEquals(version, form.getSerialVersionUID());
    assertEquals(fields, Arrays.toString(form.getFields()));
  }

  private static void assertViolation(
      String field, String rule, String name, @Nullable String tag) {
    for (Executable construction :
        List.<Executable>of(() -> new Plant(name, tag), () -> new NewPlant(1, name, tag))) {
      assertEquals(
          List.of(new Violation(field, rule)),
          assertThrows(InvalidPlantException.class, construction).violations());
    }
  }
}
