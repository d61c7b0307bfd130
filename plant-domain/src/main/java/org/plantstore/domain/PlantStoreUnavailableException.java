package org.plantstore.domain;

/**
 * Says that the store cannot answer now, but may later: try again with the same plant. Whether the
 * plant was stored is unknown; trying again is safe either way ({@link PlantStore}, rules R2 and
 * R7).
 */
public final class PlantStoreUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what the store's operator should know, without secrets and without a plant's
   *     text
   */
  public PlantStoreUnavailableException(String message) {
    super(message);
  }
}
