package org.example.nursery;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreCrashContract;

class SqliteCrashTest extends PlantStoreCrashContract {
  @TempDir Path folder;
  @Override protected Class<? extends PlantStore> storeClass() { return SqlitePlantStore.class; }
  @Override protected Map<String, String> environment() { return Map.of("PLANTS_FILE", folder + "/plants"); }
}
