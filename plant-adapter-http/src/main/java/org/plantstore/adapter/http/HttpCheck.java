package org.plantstore.adapter.http;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    int exitCode = 0;
    for (Map.Entry<String, Supplier<String>> requirement :
        requirements(settings, readsToken).entrySet()) {
      String subject = requirement.getKey();
      try {
        out.println("✔ " + subject + ": " + requirement.getValue().get());
      } catch (ConfigurationException e) {
        out.println("✘ " + subject + ": " + e.getMessage());
        exitCode = 1;
      }
    }
    return exitCode;
  }

  private static Map<String, Supplier<String>> requirements(
      Environment settings, boolean readsToken) {
    HttpStart.addDefaultOfConnections(settings);
    Map<String, Supplier<String>> requirements = new LinkedHashMap<>();
    requirements.put("settings", () -> HttpRequirements.settings(settings));
    requirements.put("certificate", () -> HttpRequirements.certificate(settings));
    requirements.put("tokens", () -> TokenSettings.of(settings).toString());
    try {
      TokenRequirements tokens = new TokenRequirements(TokenSettings.of(settings));
      if (tokens.haveProvider()) {
        requirements.put("provider", tokens::provider);
      }
      if (readsToken) {
        requirements.put("token", () -> tokens.token(System.in));
      }
    } catch (ConfigurationException e) {
      // "tokens" tells it.
    }
    return requirements;
  }
}
