package org.plantstore.domain;

/**
 * Says that another plant has the id already: choose another id. Nothing was changed, and nothing
 * of the plant that has the id is revealed. What it says never changes, so it may be passed from
 * thread to thread.
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
   * Makes the exception.
   *
   * @param id the id that is taken, any {@code long}
   */
  public PlantIdTakenException(long id) {
    super("id " + id + " is taken by another plant");
    this.id = id;
  }

  /**
   * Answers the id that is taken.
   *
   * @return any {@code long}
   */
  public long id() {
    return id;
  }
}
