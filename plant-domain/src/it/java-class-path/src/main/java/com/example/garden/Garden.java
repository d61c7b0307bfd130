package com.example.garden;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;

/** Creates plants itself, in beds that are a map. */
final class Garden implements CreatePlant {

  private final PlantStore store;

  Garden(PlantStore store) {
    this.store = store;
  }

  @Override
  public Plant create(NewPlant plant) {
    NewPlant stored = store.putIfAbsent(plant);
    if (!stored.equals(plant)) {
      throw new PlantIdTakenException(plant.id());
    }
    return stored.plant();
  }

  public static void main(String[] arguments) {
    CreatePlant garden = new Garden(new Beds());
    System.out.println(garden.create(new NewPlant(1, "fern", "shade")));
    System.out.println(garden.create(new NewPlant(2, "moss", null)));
    try {
      garden.create(new NewPlant(1, "moss", null));
    } catch (PlantIdTakenException exception) {
      System.out.println(exception);
    }
    try {
      garden.create(new NewPlant(3, "fern\0", "\uD83C"));
    } catch (InvalidPlantException exception) {
      exception.violations().forEach(System.out::println);
    }
    try {
      garden.create(new NewPlant(4, null, null));
    } catch (NullPointerException exception) {
      System.out.println(exception);
    }
    System.out.println(System.getProperty("java.class.path"));
  }

  private static final class Beds implements PlantStore {

    private final Map<Long, NewPlant> plants = new ConcurrentHashMap<>();

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      NewPlant earlier = plants.putIfAbsent(plant.id(), plant);
      return earlier == null ? plant : earlier;
    }
  }
}
