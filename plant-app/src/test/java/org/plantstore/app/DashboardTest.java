package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The dashboard's queries, held against the metrics that are served. */
class DashboardTest {

  @Test
  void queries_select_and_group_what_is_served() throws IOException {
    List<String> queries =
        new ObjectMapper()
            .readTree(Manifests.FOLDER.resolve("grafana-dashboard.json").toFile())
            .findValuesAsText("expr");

    assertTrue(queries.size() >= 12, queries::toString);
    PrometheusQueries.assertServed(queries);
  }
}
