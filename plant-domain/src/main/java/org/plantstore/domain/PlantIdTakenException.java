package org.plantstore.domain;

/**
 * Says that another plant has the id already: choose another id. Nothing was changed, and nothing
 * of the plant that has the id is revealed.
 */
public final class PlantIdTakenException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final long id;

  /**
   * Makes the exception.
   *
   * @param id the id that is taken
   */
  public PlantIdTakenException(long id) {
    super("id " + id + " is taken by another plant");
    this.id = id;
  }

  /** Answers the id that is taken. */
  public long id() {
    return id;
  }
}
