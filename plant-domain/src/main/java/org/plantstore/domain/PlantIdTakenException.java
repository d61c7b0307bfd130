package org.plantstore.domain;

/**
 * Thrown when the id of a plant already belongs to another plant. The caller must choose another
 * id. Nothing was stored, and the exception reveals nothing about the other plant.
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

  /** The id that is taken. */
  private final long id;

  /**
   * Creates an exception.
   *
   * @param id the id that is taken, any {@code long}
   */
  public PlantIdTakenException(long id) {
    super("id " + id + " is taken by another plant");
    this.id = id;
  }

  /**
   * Returns the id that is taken.
   *
   * @return the id, any {@code long}
   */
  public long id() {
    return id;
  }
}
