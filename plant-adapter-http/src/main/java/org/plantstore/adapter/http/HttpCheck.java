package org.plantstore.adapter.http;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Supplier;
import java.util.spi.ToolProvider;
import org.plantstore.adapter.http.token.TokenRequirements;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * This adapter's part of the command {@code check}: prints whether each requirement of a start is
 * met, and that on the identity provider, if there is one; with the option {@code --token} also
 * whether the token on standard input is valid. A service finds it as a {@link ToolProvider}.
 */
public final class HttpCheck implements ToolProvider {

  @Override
  public String name() {
    return "check";
  }

  /** Prints a line for each requirement, and returns 0 if all are met, and otherwise 1. */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    try (ApplicationContext context = ApplicationContext.builder().build()) {
      return report(context.getEnvironment().start(), out, List.of(arguments).contains("--token"));
    }
  }

  static int report(Environment settings, PrintWriter out, boolean readsToken) {
    HttpStart.addDefaultOfConnections(settings);
    int exitCode = report("settings", () -> HttpRequirements.settings(settings), out);
    exitCode |= report("certificate", () -> HttpRequirements.certificate(settings), out);
    int ofTokens = report("tokens", () -> TokenSettings.of(settings).toString(), out);
    if (ofTokens == 0) {
      TokenRequirements tokens = new TokenRequirements(TokenSettings.of(settings));
      exitCode |= tokens.haveProvider() ? report("provider", tokens::provider, out) : 0;
      exitCode |= readsToken ? report("token", () -> tokens.token(System.in), out) : 0;
    }
    return exitCode | ofTokens;
  }

  /** Prints the finding, or the remedy if the requirement is not met; returns 0, or 1. */
  private static int report(String subject, Supplier<String> requirement, PrintWriter out) {
    try {
      out.println("✔ " + subject + ": " + requirement.get());
      return 0;
    } catch (ConfigurationException e) {
      out.println("✘ " + subject + ": " + e.getMessage());
      return 1;
    }
  }
}
