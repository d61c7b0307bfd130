package com.example.garden

import java.util.concurrent.ConcurrentHashMap
import org.plantstore.domain.CreatePlant
import org.plantstore.domain.InvalidPlantException
import org.plantstore.domain.NewPlant
import org.plantstore.domain.Plant
import org.plantstore.domain.PlantIdTakenException
import org.plantstore.domain.PlantStore

// The compiler infers these types, for which it needs the class of the annotation @Nullable.
fun tagOf(plant: Plant) = plant.tag

val Plant.label get() = tag ?: name

class Bed(newPlant: NewPlant) {
  val tag = newPlant.tag
}

fun main() {
  val plants = ConcurrentHashMap<Long, NewPlant>()
  val store = PlantStore { plant -> plants.putIfAbsent(plant.id, plant) ?: plant }
  val createPlant = CreatePlant { plant ->
    val stored = store.putIfAbsent(plant)
    if (stored != plant) throw PlantIdTakenException(plant.id)
    stored.plant()
  }

  fun print(plant: () -> NewPlant) {
    try {
      val newPlant = plant()
      val created = createPlant.create(newPlant)
      check(Bed(newPlant).tag == tagOf(created) && created.label == (newPlant.tag ?: newPlant.name))
      println("Plant[name=${created.name}, tag=${tagOf(created)}]")
    } catch (exception: InvalidPlantException) {
      exception.violations().forEach(::println)
    } catch (exception: PlantIdTakenException) {
      println(exception)
    }
  }
  print { NewPlant(1, "fern", "shade") }
  print { NewPlant(2, "moss", null) }
  print { NewPlant(1, "moss", null) }
  print { NewPlant(3, "fern\u0000", "\uD83C") }
}
