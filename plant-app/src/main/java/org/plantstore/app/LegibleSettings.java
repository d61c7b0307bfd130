package org.plantstore.app;

import static java.util.Objects.requireNonNull;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextConfiguration;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks the text of the settings before a context or a logger reads them. */
final class LegibleSettings {

  /** The settings of logging with their values, of which the first is the default. */
  private static final Map<String, List<String>> LOGGING =
      Map.of(
          "LOG_FORMAT", List.of("text", "json"),
          "LOG_LEVEL", List.of("info", "debug", "warn"),
          "ACCESS_LOG", List.of("off", "on"));

  private static final Set<String> OF_START_SCRIPT = Set.of("JAVA_OPTS", "PLANT_STORE_AOT");

  /** What a reader overlooks: space at either end of a value, and control characters. */
  private static final Pattern INVISIBLE =
      Pattern.compile("\\A#|#\\z|[\\p{Cc}\\p{Zl}\\p{Zp}]".replace("#", "[\\p{Z}\\p{Cf}]"));

  /** Quotation marks that no shell has removed, such as those in a file of Docker or systemd. */
  private static final Pattern QUOTED =
      Pattern.compile("(?s)([\"'`]).*\\1|[\\p{Pi}\\p{Pf}\u201a\u201e].*[\\p{Pi}\\p{Pf}]");

  private LegibleSettings() {}

  /** Returns the variables that the modules on the class path declare. */
  static List<String> declared() {
    return requireNonNull(
        ((ApplicationContextConfiguration) ApplicationContext.builder())
            .getEnvironmentVariableIncludes());
  }

  /** Returns the declared variables and those that only the start script reads. */
  static Set<String> all() {
    Set<String> variables = new TreeSet<>(declared());
    variables.addAll(OF_START_SCRIPT);
    return variables;
  }

  /** Returns whether a variable is read before the arguments of a command. */
  static boolean isReadEarlier(String variable) {
    return LOGGING.containsKey(variable) || OF_START_SCRIPT.contains(variable);
  }

  /**
   * Requires that the variables of logging are usable.
   *
   * @throws ConfigurationException otherwise
   */
  static void requireLogging(Map<String, String> environment) {
    LOGGING.forEach((variable, values) -> {
      String value = environment.getOrDefault(variable, values.get(0));
      if (!values.contains(value)) {
        String choice = String.join(" or ", values);
        throw new ConfigurationException(
            variable + " must be " + choice + ", but is \"" + value + '"');
      }
    });
  }

  /** Requires that each declared variable is {@linkplain #requireExact legible}. */
  static void require(Map<String, String> settings) {
    declared().forEach(variable -> requireExact(variable, settings.getOrDefault(variable, "")));
  }

  /**
   * Requires that a value was decoded exactly, has no invisible character, and is not quoted.
   *
   * @throws ConfigurationException otherwise
   */
  static void requireExact(String name, String value) {
    String charset = System.getProperty("sun.jnu.encoding", "");
    if (!isDecodedExactly(value, charset, System.getProperty("os.name"))) {
      throw new ConfigurationException(
          name + " must be UTF-8, read in a locale such as LC_ALL=C.UTF-8; this one is " + charset);
    }
    Matcher invisible = INVISIBLE.matcher(value);
    if (invisible.find()) {
      String found = Character.getName(value.codePointAt(invisible.start()));
      String demand = "no space at its ends, and no control character";
      throw new ConfigurationException(name + " must have " + demand + ", but has " + found);
    }
    if (QUOTED.matcher(value).matches()) {
      throw new ConfigurationException(
          name + " must not be enclosed in quotation marks; remove them");
    }
  }

  /**
   * Returns whether a value contains what the operator has set. A secret of replacement characters
   * could be guessed. On Windows, Java reads the environment as text, whatever the charset.
   */
  static boolean isDecodedExactly(String value, String charset, String system) {
    return !value.contains("\uFFFD")
        && (charset.equals("UTF-8")
            || system.startsWith("Windows")
            || value.chars().allMatch(character -> character < 128));
  }
}
