package org.plantstore.app;

import static java.util.Objects.requireNonNull;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfiguration;
import io.micronaut.context.ApplicationContextConfigurer;
import io.micronaut.context.annotation.ContextConfigurer;
import io.micronaut.context.env.Environment;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Stops a start whose settings cannot work, or whose ports are in use. */
@ContextConfigurer
public final class ServiceStart implements ApplicationContextConfigurer {

  static final String DRAIN_SECONDS = "drain.seconds";

  /** What a reader overlooks: space and quotes around a value, and control characters. */
  private static final Pattern INVISIBLE =
      Pattern.compile(
          "\\A#|#\\z|[\\p{Cc}\\p{Zl}\\p{Zp}]".replace("#", "[\\p{Z}\\p{Cf}\\p{Pi}\\p{Pf}\"'`]"));

  /**
   * Declares the variables of the service. Of a variable that no module declares, nothing is read:
   * the framework would try each of its underscores as a dot and as a hyphen.
   */
  @Override
  public void configure(ApplicationContextBuilder builder) {
    builder.environmentVariableIncludes(
        "PORT", "MANAGEMENT_PORT", "DRAIN_SECONDS", "LOG_FORMAT", "ACCESS_LOG");
  }

  @Override
  public void configure(ApplicationContext context) {
    Environment settings = context.getEnvironment();
    // The ports that the server opens, in case that a setting of the framework changes one.
    int port = number(settings, "PORT", "micronaut.server.port", "a port", 1, 65_535);
    int managementPort =
        number(settings, "MANAGEMENT_PORT", "endpoints.all.port", "a port", 1, 65_535);
    if (port == managementPort) {
      throw new ConfigurationException(
          "PORT and MANAGEMENT_PORT must differ, but both are " + port);
    }
    number(settings, "DRAIN_SECONDS", DRAIN_SECONDS, "a whole number", 0, 9_999);
    requireFree("PORT", port);
    requireFree("MANAGEMENT_PORT", managementPort);
  }

  /**
   * Requires that the declared variables, as system properties too, and the arguments were decoded
   * exactly and have no invisible character, and that the variables of logging are usable; throws
   * ConfigurationException otherwise.
   */
  static void requireLegible(Map<String, String> environment, String... arguments) {
    // First, because the modules that declare variables have loggers.
    requireEither(environment, "LOG_FORMAT", "text", "json");
    requireEither(environment, "ACCESS_LOG", "off", "on");
    ApplicationContextBuilder declared = ApplicationContext.builder();
    List<String> variables =
        requireNonNull(
            ((ApplicationContextConfiguration) declared).getEnvironmentVariableIncludes());
    for (String variable : variables) {
      requireExact(variable, environment.getOrDefault(variable, ""));
    }
    for (String property : System.getProperties().stringPropertyNames()) {
      if (variables.contains(property.toUpperCase(Locale.ROOT).replaceAll("[.-]", "_"))) {
        requireExact(property, System.getProperty(property));
      }
    }
    for (String argument : arguments) {
      String[] nameAndValue = argument.split("=", 2);
      requireExact(nameAndValue[0], nameAndValue[nameAndValue.length - 1]);
    }
  }

  private static void requireExact(String name, String value) {
    // A secret of replacement characters could be guessed.
    String charset = System.getProperty("sun.jnu.encoding", "");
    if (value.contains("\uFFFD")
        || (!charset.equals("UTF-8") && !value.chars().allMatch(character -> character < 128))) {
      throw new ConfigurationException(
          name + " must be UTF-8, read in a locale such as LC_ALL=C.UTF-8; this one is " + charset);
    }
    Matcher invisible = INVISIBLE.matcher(value);
    if (invisible.find()) {
      String found = Character.getName(value.codePointAt(invisible.start()));
      String demand = "no space or quote at its ends, and no control character";
      throw new ConfigurationException(name + " must have " + demand + ", but has " + found);
    }
  }

  private static void requireEither(
      Map<String, String> environment, String variable, String one, String other) {
    String value = environment.getOrDefault(variable, one);
    if (!value.equals(one) && !value.equals(other)) {
      throw new ConfigurationException(
          variable + " must be " + one + " or " + other + ", but is \"" + value + '"');
    }
  }

  private static int number(
      Environment settings, String variable, String property, String kind, int min, int max) {
    String value = settings.getRequiredProperty(property, String.class);
    int number = value.matches("[0-9]{1,5}") ? Integer.parseInt(value) : -1;
    if (number < min || number > max) {
      String range = kind + " from " + min + " to " + max;
      throw new ConfigurationException(
          variable + " must be " + range + ", but is \"" + value + '"');
    }
    return number;
  }

  /**
   * Requires a free port. The server opens its two ports one after the other; this check prevents a
   * start with one port. Binds without listening, so that no client can connect.
   */
  private static void requireFree(String variable, int port) {
    try (Socket socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(port));
    } catch (IOException e) {
      throw new ConfigurationException(
          variable + " must be a free port, but " + port + " cannot be opened: " + e.getMessage());
    }
  }
}
