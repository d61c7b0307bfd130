package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.spi.ToolProvider;
import org.plantstore.adapter.persistence.requirement.Requirements;

/**
 * Reports the requirements of this adapter for the service's command {@code check}: whether they
 * are met now. Neither retries nor changes anything. A service finds this class as a {@link
 * ToolProvider}, without depending on this module.
 */
public final class DatabaseRequirements implements ToolProvider {

  private static final String SUBJECT = "database\t";

  @Override
  public String name() {
    return "check";
  }

  /**
   * Writes one line for each requirement: the subject, a tab and the text. The text of a met
   * requirement is its finding, on {@code out}; of an unmet requirement the remedy, on {@code err}.
   *
   * @return 0 if all requirements are met, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    int code = 0;
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      Environment settings = context.getEnvironment().start();
      Requirements requirements = PersistenceSettings.requirements(settings);
      List<Supplier<String>> all = new ArrayList<>(requirements.all());
      all.add(() -> describe(PlantQueues.requireDistribution(requirements.access())));
      for (Supplier<String> requirement : all) {
        try {
          out.println(SUBJECT + requirement.get());
        } catch (ConfigurationException e) {
          err.println(SUBJECT + e.getMessage());
          code = 1;
        }
      }
    } catch (ConfigurationException e) {
      err.println(SUBJECT + e.getMessage());
      code = 1;
    }
    return code;
  }

  private static String describe(boolean hasCitus) {
    return hasCitus ? "Citus keeps each plant at one node" : "the table plant is not distributed";
  }
}
