package org.plantstore.domain;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Stands for the database of a {@link SampleStore}: a memory, and a disk that survives a crash. */
final class Database {

  final ConcurrentMap<Long, NewPlant> memory = new ConcurrentHashMap<>();
  final ConcurrentMap<Long, NewPlant> disk = new ConcurrentHashMap<>();
  final List<NewPlant> unwritten = Collections.synchronizedList(new ArrayList<>());

  final AtomicReference<NewPlant> parameters = new AtomicReference<>();
  final Semaphore connections = new Semaphore(1);

  NewPlant readThenWrite(NewPlant plant) {
    NewPlant stored = memory.get(plant.id());
    roundTrip();
    if (stored == null) {
      write(plant);
      return plant;
    }
    return stored;
  }

  void write(NewPlant plant) {
    memory.put(plant.id(), plant);
    disk.put(plant.id(), plant);
  }

  NewPlant putIfAbsent(NewPlant plant) {
    NewPlant stored = putIfAbsentInMemory(plant);
    disk.putIfAbsent(stored.id(), stored);
    return new NewPlant(stored.id(), stored.name(), stored.tag());
  }

  NewPlant putIfAbsentInMemory(NewPlant plant) {
    NewPlant stored = memory.putIfAbsent(plant.id(), plant);
    return stored == null ? plant : stored;
  }

  void crash() {
    memory.clear();
    memory.putAll(disk);
  }

  /** Takes as long as a call over a network, which keeps a race open for longer than a map does. */
  static void roundTrip() {
    LockSupport.parkNanos(50_000);
  }
}
