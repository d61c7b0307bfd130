package org.plantstore.domain;

/**
 * Thrown when the id of a new plant already belongs to a different plant. The caller must choose
 * another id before trying again. The new plant was not stored, and the exception reveals nothing
 * about the existing plant.
 *
 * <pre>{@code
 * CreatePlant everyIdIsTaken =
 *     plant -> {
 *       throw new PlantIdTakenException(plant.id());
 *     };
 * try {
 *   everyIdIsTaken.create(new NewPlant(1, "fern", null));
 * } catch (PlantIdTakenException taken) {
 *   taken.id(); // 1L
 * }
 * }</pre>
 */
public final class PlantIdTakenException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The id that is already taken. */
  private final long id;

  /**
   * Creates an exception.
   *
   * @param id the id that is already taken
   */
  public PlantIdTakenException(long id) {
    super("id " + id + " is taken by another plant");
    this.id = id;
  }

  /**
   * Returns the id that is already taken.
   *
   * @return the id
   */
  public long id() {
    return id;
  }
}
