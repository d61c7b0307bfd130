package org.plantstore.adapter.http.startup;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Supplier;
import java.util.spi.ToolProvider;
import org.plantstore.adapter.http.tls.TlsFiles;
import org.plantstore.adapter.http.token.TokenCheck;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * The adapter's part of the {@code check} command. Prints one line for each startup requirement
 * and, if the URL of a key set is configured, one line for the identity provider. The {@code
 * --token} option adds a line for the token that is read from standard input. The service loads
 * this class as a {@link ToolProvider}.
 */
public final class HttpCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /** Prints the report, and returns 0 if all requirements are met, or 1 otherwise. */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().build()) {
      return report(context.getEnvironment().start(), out, List.of(arguments).contains("--token"));
    }
  }

  static int report(Environment settings, PrintWriter out, boolean readsToken) {
    HttpStart.addDefaultMaxConnections(settings);
    int exitCode = report("settings", () -> connections(settings), out);
    exitCode |= report("certificate", () -> certificate(settings), out);
    int tokensExitCode = report("tokens", () -> TokenSettings.of(settings).toString(), out);
    if (tokensExitCode == 0) {
      TokenCheck tokens = new TokenCheck(TokenSettings.of(settings));
      exitCode |= tokens.hasProvider() ? report("provider", tokens::provider, out) : 0;
      exitCode |= readsToken ? report("token", () -> tokens.token(System.in), out) : 0;
    }
    return exitCode | tokensExitCode;
  }

  /**
   * Checks a requirement, prints the result, and returns 0 if the requirement is met, or 1
   * otherwise.
   */
  private static int report(String subject, Supplier<String> requirement, PrintWriter out) {
    try {
      out.println("✔ " + subject + ": " + requirement.get());
      return 0;
    } catch (ConfigurationException e) {
      out.println("✘ " + subject + ": " + e.getMessage());
      return 1;
    }
  }

  private static String connections(Environment settings) {
    HttpStart.require(settings);
    String connections = settings.getRequiredProperty("max.connections", String.class);
    String files = ", with a limit of " + HttpStart.maxOpenFiles() + " open files";
    return "at most " + connections + " connections" + files;
  }

  private static String certificate(Environment settings) {
    return TlsFiles.of(settings)
        .map(files -> "for " + files.finding())
        .orElse("none; a proxy in front of the service must terminate TLS");
  }
}
