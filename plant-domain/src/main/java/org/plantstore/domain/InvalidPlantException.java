package org.plantstore.domain;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a name or a tag breaks a rule for text: one that {@link Plant} has, or a stricter one
 * of a plant store. The caller has to change the plant, because a retry with the same text always
 * fails. The message names every invalid field and the rule that it breaks, but never contains the
 * text; its wording may change in any version. Immutable and safe for use by many threads.
 *
 * <pre>{@code
 * try {
 *   new Plant("fern", "sha\0de");
 * } catch (InvalidPlantException invalid) {
 *   invalid.violations().get(0).field(); // "tag"
 *   invalid.getMessage(); // "tag must not contain U+0000, but has it at index 3"
 * }
 * }</pre>
 */
public final class InvalidPlantException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The plant that a store refuses, or null if a constructor refuses the text. */
  private final transient @Nullable NewPlant plant;

  /** At least one violation, at most one per field, in the order of the fields. */
  private final Violation[] violations;

  /**
   * Creates the exception with which a plant store refuses a plant that it was given, because the
   * plant breaks a rule of that store.
   *
   * <pre>{@code
   * NewPlant fern = new NewPlant(1, "fern", "shade");
   * Violation violation = new Violation("tag", "must have at most 4 characters, but has 5");
   * InvalidPlantException refusal = new InvalidPlantException(fern, List.of(violation));
   * refusal.refuses(fern); // true
   * refusal.getMessage(); // "tag must have at most 4 characters, but has 5"
   * }</pre>
   *
   * @param plant the plant that the store was given
   * @param violations at least one violation, at most one per field, in the order of the fields,
   *     which is not checked
   * @throws IllegalArgumentException if there is no violation
   * @throws NullPointerException if the plant, the list or a violation is null
   */
  public InvalidPlantException(NewPlant plant, List<Violation> violations) {
    this(violations, requireNonNull(plant, "plant"));
  }

  /** Creates the exception; a constructor refuses no plant, because there is none yet. */
  InvalidPlantException(List<Violation> violations, @Nullable NewPlant plant) {
    super(violations.stream().map(Violation::toString).collect(joining("; ")));
    this.plant = plant;
    this.violations = violations.toArray(Violation[]::new);
    if (violations.isEmpty()) {
      throw new IllegalArgumentException("violations must not be empty");
    }
  }

  /**
   * Returns whether a store has refused this plant. If the exception of a store refuses another
   * plant or none, the store has read an invalid row, for which its caller is not responsible.
   * Serialization does not keep the plant.
   *
   * @param sent the plant that the store was given
   * @return true if the exception was created for an equal plant
   */
  public boolean refuses(NewPlant sent) {
    return sent.equals(plant);
  }

  /**
   * Returns the violations, at most one per field, in the order of the fields.
   *
   * @return an unmodifiable list of at least one violation
   */
  public List<Violation> violations() {
    return List.of(violations);
  }

  /**
   * A field and the rule that it breaks. Immutable and safe for use by many threads.
   *
   * <pre>{@code
   * Violation violation = new Violation("name", "must not contain U+0000, but has it at index 3");
   * violation.toString(); // "name must not contain U+0000, but has it at index 3"
   * }</pre>
   *
   * @param field the field's name, such as {@code name} or {@code tag}
   * @param rule the rule, worded to follow the field's name, such as {@code must not contain
   *     U+0000, but has it at index 3}; an index counts UTF-16 code units from 0; the wording may
   *     change in any version
   * @serial exclude
   */
  @SuppressWarnings("InvalidBlockTag") // Without it, JDK 17 misses comments on fields of a record.
  public record Violation(String field, String rule) implements Serializable {

    /**
     * Creates a violation.
     *
     * @param field the field's name, not null
     * @param rule the rule that it breaks, not null
     * @throws NullPointerException if the field or the rule is null
     */
    public Violation {
      requireNonNull(field, "field");
      requireNonNull(rule, "rule");
    }

    /**
     * Returns the field's name and the rule, separated by a space. The wording may change in any
     * version.
     *
     * @return the field and the rule
     */
    @Override
    public String toString() {
      return field + " " + rule;
    }
  }
}
