package com.example.garden

import org.plantstore.domain.CreatePlant
import org.plantstore.domain.NewPlant
import org.plantstore.domain.Plant
import org.plantstore.domain.PlantStore

fun refused(createPlant: CreatePlant) {
  val plant = NewPlant(1, "fern", null)
  val name: String = plant.name
  val tag: String = plant.tag // Initializer type mismatch: expected 'String', actual 'String?'.
  val tagOfPlant: String = plant.plant().tag // Initializer type mismatch: expected 'String', actual 'String?'.
  NewPlant(2, null, tag) // Null cannot be a value of a non-null type 'String'.
  Plant(null, tagOfPlant) // Null cannot be a value of a non-null type 'String'.
  Plant(name, null)
  createPlant.create(null) // Null cannot be a value of a non-null type 'NewPlant'.
  PlantStore { null } // Null cannot be a value of a non-null type 'NewPlant'.
}
