package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The whole service over HTTP, in a process of its own, on a real PostgreSQL. */
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
      assertTakenIdIsProtected(service);
      assertHealthTellsTheProcessFromTheDatabase(service, proxy);
    }
    assertEquals(
        "9223372036854775807|fern|",
        database.single("SELECT string_agg(concat_ws('|', id, name, tag), ';') FROM plant"));
  }

  private static void assertTakenIdIsProtected(ServiceProcess service) {
    assertAnswer(200, ANSWER, service.create(FERN));
    assertAnswer(
        400,
        "{\"error\":3001,\"message\":\"id 9223372036854775807 is taken by a plant with another"
            + " name or tag; choose another id.\"}",
        service.create(Long.MAX_VALUE, "moss"));
  }

  private static void assertHealthTellsTheProcessFromTheDatabase(
      ServiceProcess service, DatabaseProxy proxy) throws IOException {
    assertAnswer(200, "{\"status\":\"UP\"}", service.health("liveness"));
    assertAnswer(200, "{\"status\":\"UP\"}", service.health("readiness"));

    proxy.refuse();
    HttpResponse<String> refused = service.create(FERN);
    assertAnswer(
        503,
        "{\"error\":5002,\"message\":\"The plant store cannot be reached now; send the same"
            + " request again later.\"}",
        refused);
    assertEquals(Optional.of("1"), refused.headers().firstValue("Retry-After"));
    service.awaitReadiness(503);
    assertAnswer(503, "{\"status\":\"DOWN\"}", service.health("readiness"));
    assertAnswer(200, "{\"status\":\"UP\"}", service.health("liveness"));

    proxy.heal();
    service.awaitReady();
    assertAnswer(200, ANSWER, service.create(FERN));
  }

  private static void assertAnswer(int status, String body, HttpResponse<String> answer) {
    assertEquals(body, answer.body());
    assertEquals(status, answer.statusCode());
    assertEquals(Optional.of("application/json"), answer.headers().firstValue("Content-Type"));
  }
}
