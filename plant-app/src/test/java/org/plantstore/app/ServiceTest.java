package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The whole service over HTTP, in a process of its own, on a real PostgreSQL. */
@Execution(ExecutionMode.CONCURRENT)
class ServiceTest {

  private static final String FERN = "{\"id\":9223372036854775807,\"name\":\"fern\",\"tag\":\"\"}";
  private static final String ANSWER = "{\"name\":\"fern\",\"tag\":\"\"}";

  @Test
  void plant_is_stored_once_and_outlives_an_absence_of_the_database() throws Exception {
    Database database = Database.create();
    Map<String, String> settings = Map.of("DATABASE_TIMEOUT_SECONDS", "1");
    try (DatabaseProxy proxy = new DatabaseProxy(database.port());
        ServiceProcess service =
            new ServiceProcess(database.through(proxy).environment(settings)).awaitReady()) {
      assertAnswer(200, ANSWER, service.create(FERN));
      assertEquals(400, service.create(Long.MAX_VALUE, "moss").statusCode());
      assertAnswer(200, "{\"status\":\"UP\"}", service.health("liveness"));
      assertAnswer(200, "{\"status\":\"UP\"}", service.health("readiness"));

      proxy.refuse();
      HttpResponse<String> refused = service.create(FERN);
      assertEquals(503, refused.statusCode());
      assertTrue(refused.body().startsWith("{\"error\":5002,"), refused.body());
      assertEquals(Optional.of("1"), refused.headers().firstValue("Retry-After"));
      service.awaitReadiness(503);
      assertAnswer(503, "{\"status\":\"DOWN\"}", service.health("readiness"));
      assertAnswer(200, "{\"status\":\"UP\"}", service.health("liveness"));

      proxy.heal();
      service.awaitReady();
      assertAnswer(200, ANSWER, service.create(FERN));
    }
    assertEquals(
        "9223372036854775807|fern|",
        database.single("SELECT string_agg(concat_ws('|', id, name, tag), ';') FROM plant"));
  }

  private static void assertAnswer(int status, String body, HttpResponse<String> answer) {
    assertEquals(body, answer.body());
    assertEquals(status, answer.statusCode());
    assertEquals(Optional.of("application/json"), answer.headers().firstValue("Content-Type"));
  }
}
