package org.plantstore.adapter.http;

import io.micronaut.test.context.TestContext;
import io.micronaut.test.context.TestExecutionListener;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;

/** The port behind this adapter: counts its calls, and does what each test sets. */
@Singleton
public final class FakeCreatePlant implements CreatePlant, TestExecutionListener {

  private final AtomicInteger calls = new AtomicInteger();
  private volatile Function<NewPlant, Plant> behaviour = NewPlant::plant;

  @Override
  public void beforeTestMethod(TestContext test) {
    behaviour = NewPlant::plant;
    calls.set(0);
  }

  public void behave(Function<NewPlant, Plant> newBehaviour) {
    behaviour = newBehaviour;
  }

  public int calls() {
    return calls.get();
  }

  @Override
  public Plant create(NewPlant plant) {
    calls.incrementAndGet();
    return behaviour.apply(plant);
  }
}
