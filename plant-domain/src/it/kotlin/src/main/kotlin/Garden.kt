package com.example.garden

import java.util.concurrent.ConcurrentHashMap
import org.plantstore.domain.CreatePlant
import org.plantstore.domain.InvalidPlantException
import org.plantstore.domain.NewPlant
import org.plantstore.domain.Plant
import org.plantstore.domain.PlantIdTakenException
import org.plantstore.domain.PlantStore

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
      val created: Plant = createPlant.create(plant())
      val name: String = created.name
      val tag: String? = created.tag
      println("Plant[name=$name, tag=$tag]")
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
