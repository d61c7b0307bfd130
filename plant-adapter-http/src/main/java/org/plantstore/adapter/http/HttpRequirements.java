package org.plantstore.adapter.http;

import com.sun.management.UnixOperatingSystemMXBean;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.spi.ToolProvider;
import org.plantstore.adapter.http.tls.TlsFiles;
import org.plantstore.adapter.http.token.TokenRequirements;
import org.plantstore.adapter.http.token.TokenSettings;

/**
 * The requirements of this adapter. A start stops at the first that is not met; the service's
 * command {@code check} finds this class as a {@link ToolProvider}, and reports all.
 */
public final class HttpRequirements implements ToolProvider {

  private static final List<String> LIMITS =
      List.of(
          "max.body.bytes",
          "max.concurrent.creates",
          "max.connections",
          "request.timeout.seconds",
          "create.timeout.seconds");

  private static final long MIN_OPEN_FILES = 64;

  /**
   * Returns how many connections the limit of open files allows. The rest is for jars, the database
   * and probes, and for connections that the kernel has not released yet.
   */
  static long maxConnections() {
    return maxOpenFiles() * 3 / 4 - MIN_OPEN_FILES / 2;
  }

  static long maxOpenFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Integer.MAX_VALUE;
  }

  /**
   * Returns the requirements of a start by subject. Each returns its finding, or throws {@link
   * ConfigurationException} with the remedy.
   */
  static Map<String, Supplier<String>> ofStart(Environment settings) {
    Map<String, Supplier<String>> requirements = new LinkedHashMap<>();
    requirements.put("limits", () -> limits(settings));
    requirements.put("certificate", () -> certificate(settings));
    requirements.put("tokens", () -> TokenSettings.of(settings).toString());
    requirements.put("libraries", () -> NettyVersion.requireOne(settings));
    return requirements;
  }

  @Override
  public String name() {
    return "check";
  }

  /**
   * Writes one line for each requirement: the subject, a tab and the text. The text of a met
   * requirement is its finding, on {@code out}; of an unmet requirement the remedy, on {@code err}.
   *
   * @param arguments settings, and {@code --token} to validate the token on standard input, which
   *     is not written anywhere
   * @return 0 if all requirements are met, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    int code = 0;
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      Environment settings = context.getEnvironment().start();
      HttpSettings.addDefaultOfConnections(settings);
      Map<String, Supplier<String>> requirements = ofStart(settings);
      Supplier<TokenRequirements> tokens = () -> new TokenRequirements(TokenSettings.of(settings));
      if (settings.containsProperty("jwt.jwks-url")) {
        requirements.put("provider", () -> tokens.get().provider());
      }
      if (List.of(arguments).contains("--token")) {
        requirements.put("token", () -> tokens.get().token(System.in));
      }
      for (Map.Entry<String, Supplier<String>> requirement : requirements.entrySet()) {
        try {
          out.println(requirement.getKey() + "\t" + requirement.getValue().get());
        } catch (ConfigurationException e) {
          err.println(requirement.getKey() + "\t" + e.getMessage());
          code = 1;
        }
      }
    } catch (ConfigurationException e) {
      err.println("settings\t" + e.getMessage());
      code = 1;
    }
    return code;
  }

  private static String limits(Environment settings) {
    if (maxOpenFiles() < MIN_OPEN_FILES) {
      String demand = "the limit of open files (ulimit -n) must be at least " + MIN_OPEN_FILES;
      throw new ConfigurationException(demand + ", but is " + maxOpenFiles());
    }
    for (String property : LIMITS) {
      String value = settings.getRequiredProperty(property, String.class);
      if (!value.matches("[1-9][0-9]{0,8}")) {
        String variable = property.replace('.', '_').toUpperCase(Locale.ROOT);
        throw new ConfigurationException(
            variable + " must be a whole number from 1 to 999999999, but is \"" + value + '"');
      }
    }
    long maxBodyBytes = settings.getRequiredProperty("max.body.bytes", Long.class);
    // Parsing one body may take 14 times its bytes, and copies of the body are kept meanwhile.
    long bound = Runtime.getRuntime().maxMemory() / 32;
    if (maxBodyBytes > bound) {
      String demand = "at most " + bound + ", a thirty-second of the heap (-Xmx)";
      throw new ConfigurationException(
          "MAX_BODY_BYTES must be " + demand + ", but is " + maxBodyBytes);
    }
    long connections = settings.getRequiredProperty("max.connections", Long.class);
    if (connections > maxConnections()) {
      String demand = "MAX_CONNECTIONS must be at most " + maxConnections() + ", because only ";
      String files = maxOpenFiles() + " files can be open (ulimit -n), but is ";
      throw new ConfigurationException(demand + files + connections);
    }
    String files = ", with a limit of " + maxOpenFiles() + " open files";
    return "at most " + connections + " connections" + files;
  }

  private static String certificate(Environment settings) {
    return TlsFiles.of(settings)
        .map(files -> "for " + files.finding())
        .orElse("none; a proxy in front of the service must terminate TLS");
  }
}
