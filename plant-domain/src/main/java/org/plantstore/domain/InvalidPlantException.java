package org.plantstore.domain;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import java.io.Serializable;
import java.util.List;

/**
 * Thrown when a name or a tag breaks a rule for text, or a stricter one of a plant store. The
 * caller has to change the plant: a retry with the same text always fails. The message names every
 * invalid field and the rule that it breaks, but never contains the text; its wording may change in
 * any version. The violations are immutable and safe for use by many threads.
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

  /** At least one violation, at most one per field, in the order of the fields. */
  private final Violation[] violations;

  /**
   * Creates the exception. The rules for text throw it by themselves; a plant store may have
   * stricter ones.
   *
   * @param violations at least one violation, at most one per field, in the order of the fields,
   *     which is not checked
   * @throws IllegalArgumentException if there is no violation
   * @throws NullPointerException if the list or a violation is null
   */
  public InvalidPlantException(List<Violation> violations) {
    super(violations.stream().map(Violation::toString).collect(joining("; ")));
    this.violations = violations.toArray(Violation[]::new);
    if (violations.isEmpty()) {
      throw new IllegalArgumentException("violations must not be empty");
    }
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
