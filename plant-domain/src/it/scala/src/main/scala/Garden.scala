package com.example.garden

import java.util.concurrent.ConcurrentHashMap
import org.plantstore.domain.{CreatePlant, InvalidPlantException, NewPlant, PlantIdTakenException, PlantStore}

object Garden:

  def main(arguments: Array[String]): Unit =
    val plants = ConcurrentHashMap[Long, NewPlant]()
    val store: PlantStore = plant => Option(plants.putIfAbsent(plant.id, plant)).getOrElse(plant)
    val createPlant: CreatePlant = plant =>
      val stored = store.putIfAbsent(plant)
      if stored != plant then throw PlantIdTakenException(plant.id)
      stored.plant

    def print(plant: => NewPlant): Unit =
      try println(createPlant.create(plant))
      catch
        case exception: InvalidPlantException => exception.violations.forEach(println(_))
        case exception: (PlantIdTakenException | NullPointerException) => println(exception)

    print(NewPlant(1, "fern", "shade"))
    print(NewPlant(2, "moss", null))
    print(NewPlant(1, "moss", null))
    print(NewPlant(3, "fern\u0000", "\ud83c"))
    print(NewPlant(4, null, null))
