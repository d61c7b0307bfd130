package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.plantstore.app.EmbeddedDatabase.environment;
import static org.plantstore.app.EmbeddedDatabase.start;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole service over HTTP, in a process of its own, on a real PostgreSQL. */
class ServiceTest {

  private static final String FERN = "{\"id\":9223372036854775807,\"name\":\"fern\",\"tag\":\"\"}";

  @Test
  void plant_is_created_kept_and_protected() throws IOException, SQLException {
    try (EmbeddedPostgres database = start()) {
      try (ServiceProcess service = new ServiceProcess(environment(database)).awaitReady()) {
        assertAnswer(200, "{\"name\":\"fern\",\"tag\":\"\"}", service.create(FERN));
        assertAnswer(200, "{\"name\":\"fern\",\"tag\":\"\"}", service.create(FERN));
        service.kill();
      }
      try (ServiceProcess service = new ServiceProcess(environment(database)).awaitReady()) {
        assertAnswer(200, "{\"name\":\"fern\",\"tag\":\"\"}", service.create(FERN));
        assertAnswer(
            400,
            "{\"error\":3001,\"message\":\"id 9223372036854775807 is taken by a plant with another"
                + " name or tag; choose another id.\"}",
            service.create("{\"id\":9223372036854775807,\"name\":\"moss\"}"));
        assertAnswer(
            200,
            "{\"name\":\"\uD83C\uDF3F\"}",
            service.create("{\"id\":-1,\"name\":\"\uD83C\uDF3F\",\"tag\":null}"));
      }
      assertEquals(
          "-1|\uD83C\uDF3F|null;9223372036854775807|fern|;", contentOf(database), "the table");
    }
  }

  @Test
  void health_tells_the_process_from_the_database(@TempDir Path data) throws IOException {
    EmbeddedPostgres database = start(data, 0);
    Map<String, String> environment = environment(database);
    environment.put("DATABASE_TIMEOUT_SECONDS", "2");
    try (ServiceProcess service = new ServiceProcess(environment).awaitReady()) {
      assertAnswer(200, "{\"status\":\"UP\"}", service.health("liveness"));
      assertAnswer(200, "{\"status\":\"UP\"}", service.health("readiness"));

      database.close();

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

      database = start(data, database.getPort());
      service.awaitReady();
      assertAnswer(200, "{\"name\":\"fern\",\"tag\":\"\"}", service.create(FERN));
    } finally {
      database.close();
    }
  }

  private static void assertAnswer(int status, String body, HttpResponse<String> answer) {
    assertEquals(body, answer.body());
    assertEquals(status, answer.statusCode());
    assertEquals(Optional.of("application/json"), answer.headers().firstValue("Content-Type"));
  }

  private static String contentOf(EmbeddedPostgres database) throws SQLException {
    StringBuilder content = new StringBuilder();
    try (Connection connection = database.getPostgresDatabase().getConnection();
        ResultSet rows =
            connection
                .createStatement()
                .executeQuery("SELECT id, name, tag FROM plant ORDER BY id")) {
      while (rows.next()) {
        content
            .append(rows.getLong(1))
            .append('|')
            .append(rows.getString(2))
            .append('|')
            .append(rows.getString(3))
            .append(';');
      }
    }
    return content.toString();
  }
}
