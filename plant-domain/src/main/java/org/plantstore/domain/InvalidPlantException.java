package org.plantstore.domain;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the name or the tag of a plant violates a rule for text. The rule is either one of
 * the rules of {@link Plant} or a stricter rule of a plant store. The caller must change the plant,
 * because a retry with the same text always fails.
 *
 * <p>The message names every invalid field and the rule that the field violates, but never contains
 * the text of the field. The wording of the message may change in any version. Instances are
 * immutable and safe for use by multiple threads.
 *
 * <pre>{@code
 * try {
 *   new Plant("fern", "sha\0de");
 * } catch (InvalidPlantException invalid) {
 *   invalid.violations().get(0).field(); // "tag"
 *   invalid.getMessage(); // "tag must not contain U+0000 (found at index 3)"
 * }
 * }</pre>
 */
public final class InvalidPlantException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The plant that a store refused, or null if a constructor refused the text. */
  private final transient @Nullable NewPlant plant;

  /** The violations: at least one, and at most one per field. */
  private final Violation[] violations;

  /**
   * Creates an exception with which a plant store refuses the plant that was passed to it, because
   * the plant violates a rule of the store.
   *
   * <pre>{@code
   * NewPlant fern = new NewPlant(1, "fern", "shade");
   * Violation violation = new Violation("tag", "must have at most 4 characters, but has 5");
   * InvalidPlantException refusal = new InvalidPlantException(fern, List.of(violation));
   * refusal.refuses(fern); // true
   * refusal.getMessage(); // "tag must have at most 4 characters, but has 5"
   * }</pre>
   *
   * @param plant the plant that was passed to the store
   * @param violations a list of at least one violation, with at most one violation per field and
   *     the name before the tag; the constructor checks only that the list is not empty
   * @throws IllegalArgumentException if {@code violations} is empty
   * @throws NullPointerException if the plant, the list, or a violation is null
   */
  public InvalidPlantException(NewPlant plant, List<Violation> violations) {
    this(violations, requireNonNull(plant, "plant"));
  }

  /** Creates an exception. The plant is null if a constructor refused the text. */
  InvalidPlantException(List<Violation> violations, @Nullable NewPlant plant) {
    super(violations.stream().map(Violation::toString).collect(joining("; ")));
    this.plant = plant;
    this.violations = violations.toArray(Violation[]::new);
    if (violations.isEmpty()) {
      throw new IllegalArgumentException("violations must not be empty");
    }
  }

  /**
   * Returns whether a store created this exception to refuse the given plant. If a store throws an
   * exception that does not refuse the plant that was passed to it, the store has read an invalid
   * row, and the caller is not responsible. The plant is not serialized, so a deserialized
   * exception does not refuse any plant.
   *
   * @param sent the plant that was passed to the store
   * @return true if this exception was created for a plant that is equal to {@code sent}
   * @throws NullPointerException if {@code sent} is null
   */
  public boolean refuses(NewPlant sent) {
    return sent.equals(plant);
  }

  /**
   * Returns the violations. A violation of the name precedes a violation of the tag.
   *
   * @return an unmodifiable list of at least one violation, with at most one violation per field
   */
  public List<Violation> violations() {
    return List.of(violations);
  }

  /**
   * A field and the rule that it violates. Instances are immutable and safe for use by multiple
   * threads.
   *
   * <pre>{@code
   * Violation violation = new Violation("name", "must not contain U+0000 (found at index 3)");
   * violation.toString(); // "name must not contain U+0000 (found at index 3)"
   * }</pre>
   *
   * @param field the name of the field, such as {@code name} or {@code tag}
   * @param rule the rule, phrased so that it forms a sentence with the name of the field, such as
   *     {@code must not contain U+0000 (found at index 3)}. An index is the number of UTF-16 code
   *     units that precede the invalid one. The wording of the rule may change in any version.
   * @serial exclude
   */
  @SuppressWarnings("InvalidBlockTag") // Without @serial, JDK 17 requires comments on the fields.
  public record Violation(String field, String rule) implements Serializable {

    /**
     * Creates a violation.
     *
     * @param field the name of the field, not null
     * @param rule the rule that the field violates, not null
     * @throws NullPointerException if {@code field} or {@code rule} is null
     */
    public Violation {
      requireNonNull(field, "field");
      requireNonNull(rule, "rule");
    }

    /**
     * Returns the name of the field and the rule, separated by a space. The wording of the rule may
     * change in any version.
     *
     * @return the name of the field and the rule
     */
    @Override
    public String toString() {
      return field + " " + rule;
    }
  }
}
