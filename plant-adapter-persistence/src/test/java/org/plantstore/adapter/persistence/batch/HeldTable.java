package org.plantstore.adapter.persistence.batch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStoreUnavailableException;

/** A table in memory whose batches can be seen, held up and made to fail. */
public final class HeldTable implements GroupCommit.Table {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Long, NewPlant> rows = new HashMap<>();
  private final List<List<Long>> batches = new ArrayList<>();
  private final Map<Long, BatchFailure> refused = new HashMap<>();
  private @Nullable Long heldUpId;
  private @Nullable Long hiddenId;
  private boolean released;
  private int answersToLose;
  private boolean crash;

  @Override
  public Map<Long, NewPlant> putIfAbsent(SortedMap<Long, NewPlant> plants) throws BatchFailure {
    lock.lock();
    try {
      batches.add(List.copyOf(plants.keySet()));
      changed.signalAll();
      while (!released || (heldUpId != null && plants.containsKey(heldUpId))) {
        changed.awaitUninterruptibly();
      }
      if (crash) {
        crash = false;
        throw new AssertionError("crash");
      }
      for (Long id : plants.keySet()) {
        BatchFailure failure = refused.get(id);
        if (failure != null) {
          throw failure;
        }
      }
      Map<Long, NewPlant> stored = new HashMap<>();
      plants.forEach((id, plant) -> {
        rows.putIfAbsent(id, plant);
        stored.put(id, rows.get(id));
      });
      if (hiddenId != null) {
        stored.remove(hiddenId);
      }
      if (answersToLose > 0) {
        answersToLose--;
        throw new BatchFailure(
            BatchFailure.Remedy.REPEAT, new PlantStoreUnavailableException("connection lost"));
      }
      return stored;
    } finally {
      lock.unlock();
    }
  }

  /** Lets all batches pass, those that come later too. */
  public void release() {
    change(() -> released = true);
  }

  void holdUp(long id) {
    change(() -> heldUpId = id);
  }

  void holdUpNothing() {
    change(() -> heldUpId = null);
  }

  void hide(long id) {
    change(() -> hiddenId = id);
  }

  void hideNothing() {
    change(() -> hiddenId = null);
  }

  void refuse(long id, BatchFailure failure) {
    change(() -> refused.put(id, failure));
  }

  void refuseNothing() {
    change(refused::clear);
  }

  void loseNextAnswers(int number) {
    change(() -> answersToLose = number);
  }

  void crashNext() {
    change(() -> crash = true);
  }

  /** Waits until so many batches have come, whether they were held up or not. */
  public void awaitBatches(int number) {
    lock.lock();
    try {
      while (batches.size() < number) {
        changed.await();
      }
    } catch (InterruptedException e) {
      throw new AssertionError("waited for batch " + number + " in vain; there were " + this, e);
    } finally {
      lock.unlock();
    }
  }

  /** Answers the ids of each batch in the order in which the batches came. */
  List<List<Long>> batches() {
    lock.lock();
    try {
      return List.copyOf(batches);
    } finally {
      lock.unlock();
    }
  }

  int rows() {
    lock.lock();
    try {
      return rows.size();
    } finally {
      lock.unlock();
    }
  }

  List<Long> lastBatch() {
    List<List<Long>> all = batches();
    return all.get(all.size() - 1);
  }

  @Override
  public String toString() {
    return "batches of " + batches();
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
