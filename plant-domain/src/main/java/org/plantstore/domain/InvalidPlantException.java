package org.plantstore.domain;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a plant's name or tag violates a rule. The rule is either one of the rules of {@link
 * Plant} or a stricter rule that a store imposes. The caller must correct the plant before trying
 * again, because a retry with the same text always fails.
 *
 * <p>The message names each invalid field and the rule that the field violates, but never contains
 * the field's text. The wording of the message may change in any version. Instances are immutable
 * and safe for use by multiple threads.
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

  /** The plant that a store rejected, or null if a plant's own constructor threw this exception. */
  private final transient @Nullable NewPlant plant;

  /** A non-empty array, with at most one violation per field. */
  private final Violation[] violations;

  /**
   * Creates an exception that a store throws to reject a plant that violates one of the store's own
   * rules.
   *
   * <pre>{@code
   * NewPlant fern = new NewPlant(1, "fern", "shade");
   * Violation violation = new Violation("tag", "must have at most 4 characters, but has 5");
   * InvalidPlantException rejection = new InvalidPlantException(fern, List.of(violation));
   * rejection.refuses(fern); // true
   * rejection.getMessage(); // "tag must have at most 4 characters, but has 5"
   * }</pre>
   *
   * @param plant the plant that the store rejects
   * @param violations the violations, at most one per field. A violation for the name must precede
   *     a violation for the tag. The constructor checks only that the list is not empty.
   * @throws IllegalArgumentException if {@code violations} is empty
   * @throws NullPointerException if the plant, the list, or a violation is null
   */
  public InvalidPlantException(NewPlant plant, List<Violation> violations) {
    this(violations, requireNonNull(plant, "plant"));
  }

  /**
   * Creates an exception. If a plant's own constructor throws the exception, {@code plant} is null.
   */
  InvalidPlantException(List<Violation> violations, @Nullable NewPlant plant) {
    super(violations.stream().map(Violation::toString).collect(joining("; ")));
    this.plant = plant;
    this.violations = violations.toArray(Violation[]::new);
    if (violations.isEmpty()) {
      throw new IllegalArgumentException("violations must not be empty");
    }
  }

  /**
   * Returns whether a store created this exception to reject the given plant. If this method
   * returns false for an exception that a store has thrown, the store has read an invalid row, so
   * the caller is not responsible. The plant is not serialized, so this method always returns false
   * for a deserialized exception.
   *
   * @param sent the plant that was passed to the store
   * @return true if this exception was created for a plant that equals {@code sent}
   * @throws NullPointerException if {@code sent} is null
   */
  public boolean refuses(NewPlant sent) {
    return sent.equals(plant);
  }

  /**
   * Returns the violations. A violation for the name precedes a violation for the tag.
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
   * @param rule the rule, such as {@code must not contain U+0000 (found at index 3)}. The field's
   *     name and the rule together form a sentence. An index in a rule is zero-based and counts
   *     UTF-16 code units. The wording of the rule may change in any version.
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
     * Returns the name of the field, followed by a space and the rule. The wording of the rule may
     * change in any version.
     *
     * @return the field's name, a space, and the rule
     */
    @Override
    public String toString() {
      return field + " " + rule;
    }
  }
}
