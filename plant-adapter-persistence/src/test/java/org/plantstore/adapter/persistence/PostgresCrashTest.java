package org.plantstore.adapter.persistence;

import static org.plantstore.adapter.persistence.DatabaseServer.SERVER;

import io.micronaut.context.ApplicationContext;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreCrashContract;

/** Crashes of a service and of its server during calls. */
@Tag("slow")
class PostgresCrashTest extends PlantStoreCrashContract {

  /** The store of a service with the settings in the environment. */
  public static final class OfAService implements PlantStore {

    private final PlantStore store = ApplicationContext.run().getBean(PlantStore.class);

    @Override
    public NewPlant putIfAbsent(NewPlant plant) {
      return store.putIfAbsent(plant);
    }

    @Override
    public CompletionStage<NewPlant> putIfAbsentAsync(NewPlant plant, Executor executor) {
      return store.putIfAbsentAsync(plant, executor);
    }
  }

  @BeforeEach
  void reset() {
    SERVER.reset();
  }

  @Override
  protected Class<? extends PlantStore> storeClass() {
    return OfAService.class;
  }

  @Override
  protected Map<String, String> environment() {
    return SERVER.environment();
  }

  /** Few, because starts of a server and of a service take 3 s. */
  @Override
  protected int kills() {
    return 2;
  }

  @Override
  protected void crashServer() throws Exception {
    SERVER.crash();
  }
}
