package org.plantstore.adapter.persistence;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.List;
import java.util.spi.ToolProvider;
import org.plantstore.adapter.persistence.database.DatabaseAccess;
import org.plantstore.adapter.persistence.database.PostgresFailure;
import org.plantstore.adapter.persistence.start.Server;
import org.plantstore.adapter.persistence.start.ServerCheck;
import org.plantstore.adapter.persistence.start.ServerRules;
import org.plantstore.adapter.persistence.start.ServerRules.Finding;
import org.plantstore.adapter.persistence.start.TableCheck;

/**
 * The part of the command {@code check} that is about the database: whether a service with these
 * settings could use it now. It does not retry, and changes nothing. A service finds it as a {@link
 * ToolProvider}, without depending on this module.
 */
public final class DatabaseCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /**
   * Checks the database, and writes a line for each finding: to {@code out} if it is as it should
   * be, and otherwise to {@code err}, with what to do.
   *
   * @return 0 if all is as it should be, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      Environment settings = context.getEnvironment().start();
      boolean migrates = PersistenceSettings.requireUsable(settings);
      DatabaseAccess access = DatabaseAccess.of(settings);
      Server server = Server.ask(access);
      // Parameters of the address may be secret.
      out.println("database: " + access.url().replaceFirst("\\?.*", "") + " answers");
      List<Finding> findings = ServerRules.judge(server, migrates);
      findings.forEach(
          finding -> (finding.isGood() ? out : err).println("database: " + finding.text()));
      if (server.hasTable() || !migrates) {
        new TableCheck(access).run();
        out.println("database: the table plant is as it should be");
      } else {
        out.println("database: the table plant is not there yet; the start creates it");
      }
      return findings.stream().allMatch(Finding::isGood) ? 0 : 1;
    } catch (ConfigurationException e) {
      err.println("database: " + e.getMessage());
    } catch (SQLException e) {
      err.println("database: it cannot be used; " + ServerCheck.advice(new PostgresFailure(e)));
    }
    return 1;
  }
}
