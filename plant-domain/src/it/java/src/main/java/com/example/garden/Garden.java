package com.example.garden;

import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.InvalidPlantException;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.domain.PlantIdTakenException;
import org.plantstore.domain.PlantStore;

final class Garden {

  public static void main(String[] arguments) {
    Map<Long, NewPlant> plants = new ConcurrentHashMap<>();
    PlantStore store =
        plant -> {
          NewPlant earlier = plants.putIfAbsent(plant.id(), plant);
          return earlier == null ? plant : earlier;
        };
    CreatePlant createPlant =
        plant -> {
          NewPlant stored = store.putIfAbsent(plant);
          if (!stored.equals(plant)) {
            throw new PlantIdTakenException(plant.id());
          }
          return stored.plant();
        };

    print(() -> createPlant.create(new NewPlant(1, "fern", "shade")));
    print(() -> createPlant.create(new NewPlant(2, "moss", null)));
    print(() -> createPlant.create(new NewPlant(1, "moss", null)));
    print(() -> createPlant.create(new NewPlant(3, "fern\0", "\uD83C")));
    print(() -> createPlant.create(new NewPlant(4, null, null)));

    System.out.println(System.getProperty("java.class.path"));
    Stream<ModuleReference> modules = ModuleFinder.ofSystem().findAll().stream();
    System.out.println(modules.map(module -> module.descriptor().name()).sorted().toList());
  }

  private static void print(Supplier<Plant> creation) {
    try {
      System.out.println(creation.get());
    } catch (InvalidPlantException exception) {
      exception.violations().forEach(System.out::println);
    } catch (PlantIdTakenException | NullPointerException exception) {
      System.out.println(exception);
    }
  }
}
