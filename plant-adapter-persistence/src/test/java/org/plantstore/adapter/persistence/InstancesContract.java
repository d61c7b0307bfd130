package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.plantstore.domain.PlantStore;
import org.plantstore.domain.contract.PlantStoreContract;

/** Checks the rules for all stores through two instances that use the same database. */
public abstract class InstancesContract extends PlantStoreContract {

  private static final List<ApplicationContext> INSTANCES = new ArrayList<>();

  private final PostgresServer server;

  protected InstancesContract(PostgresServer server) {
    this.server = server;
  }

  /** Keeps an instance until the last test of the class has run, and returns its store. */
  protected static PlantStore another(ApplicationContext instance) {
    INSTANCES.add(instance);
    return instance.getBean(PlantStore.class);
  }

  @AfterAll
  static void stop() {
    INSTANCES.forEach(ApplicationContext::close);
    INSTANCES.clear();
  }

  @BeforeEach
  void empty() {
    server.execute(
        "TRUNCATE plant",
        "ALTER TABLE plant DROP CONSTRAINT IF EXISTS damage",
        "ALTER TABLE plant ALTER name SET NOT NULL");
  }

  @Override
  protected PlantStore store() {
    return INSTANCES.get(0).getBean(PlantStore.class);
  }

  @Override
  protected PlantStore anotherStore() {
    return INSTANCES.get(1).getBean(PlantStore.class);
  }

  /** Returns a store whose database has been dropped. */
  @Override
  protected PlantStore unreachableStore() {
    server.execute("DROP DATABASE IF EXISTS gone", "CREATE DATABASE gone");
    Map<String, Object> settings =
        Map.of(
            "database.url",
            server.url("gone"),
            "database.migrate",
            "on",
            "database.timeout.seconds",
            1);
    PlantStore store = another(server.connect(settings));
    server.execute("DROP DATABASE gone WITH (FORCE)");
    return store;
  }

  @Override
  protected PlantStore damagedStore() {
    server.execute("ALTER TABLE plant ADD CONSTRAINT damage CHECK (false)");
    return store();
  }

  @Override
  protected void putInvalidRow(long id) {
    server.execute(
        "ALTER TABLE plant ALTER name DROP NOT NULL",
        "INSERT INTO plant VALUES (" + id + ", NULL)");
  }

  @Override
  protected InetSocketAddress server() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
  }

  @Override
  protected PlantStore storeThrough(InetSocketAddress proxy) {
    String url = "jdbc:postgresql://localhost:" + proxy.getPort() + "/postgres";
    return another(server.connect(Map.of("database.url", url, "database.timeout.seconds", 1)));
  }
}
