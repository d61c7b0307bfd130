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

/**
 * Checks that settings are well formed before an application context or a logger reads them. A
 * value is well formed if it was decoded without loss, contains no invisible characters, and is not
 * enclosed in quotation marks.
 */
final class LegibleSettings {

  /** The logging settings and their permitted values. */
  private static final Map<String, String> LOGGING =
      Map.of(
          "LOG_FORMAT", "text or json",
          "LOG_LEVEL", "debug, info, or warn",
          "ACCESS_LOG", "off or on");

  private static final Set<String> START_SCRIPT = Set.of("JAVA_OPTS", "PLANT_STORE_AOT");

  /**
   * Matches an invisible character: a space at the beginning or end of a value, or any control
   * character.
   */
  private static final Pattern INVISIBLE =
      Pattern.compile("\\A#|#\\z|[\\p{Cc}\\p{Zl}\\p{Zp}]".replace("#", "[\\p{Z}\\p{Cf}]"));

  /**
   * Matches a value that is enclosed in quotation marks. Docker does not remove quotation marks
   * when it reads an environment file.
   */
  private static final Pattern QUOTED =
      Pattern.compile("(?s)([\"'`]).*\\1|[\\p{Pi}\\p{Pf}\u201a\u201e].*[\\p{Pi}\\p{Pf}]");

  private LegibleSettings() {}

  /** Returns the variables that the modules on the class path declare. */
  static List<String> declared() {
    return requireNonNull(
        ((ApplicationContextConfiguration) ApplicationContext.builder())
            .getEnvironmentVariableIncludes());
  }

  /**
   * Returns the variables that the modules declare, and the variables that only the start script
   * reads.
   */
  static Set<String> all() {
    Set<String> variables = new TreeSet<>(declared());
    variables.addAll(START_SCRIPT);
    return variables;
  }

  /** Returns whether a variable is read before the command-line arguments. */
  static boolean isReadBeforeArguments(String variable) {
    return LOGGING.containsKey(variable) || START_SCRIPT.contains(variable);
  }

  /** Checks that every logging setting either has a permitted value or is not set. */
  static void requireLogging(Map<String, String> environment) {
    LOGGING.forEach((variable, choice) -> {
      String value = environment.get(variable);
      if (value != null && !List.of(choice.split(",? or |, ")).contains(value)) {
        throw new ConfigurationException(
            variable + " must be " + choice + ", but is \"" + value + '"');
      }
    });
  }

  /** Checks the value of each declared variable with {@link #requireExact}. */
  static void require(Map<String, String> settings) {
    declared().forEach(variable -> requireExact(variable, settings.getOrDefault(variable, "")));
  }

  /**
   * Checks that a value was decoded without loss, contains no invisible characters, and is not
   * enclosed in quotation marks.
   *
   * @throws ConfigurationException if the check fails
   */
  static void requireExact(String name, String value) {
    String charset = System.getProperty("sun.jnu.encoding", "");
    if (!isDecodedExactly(value, charset, System.getProperty("os.name"))) {
      throw new ConfigurationException(
          (name + " contains bytes that cannot be decoded reliably with the locale's charset, ")
              + charset
              + "; encode the value in UTF-8, and set LC_ALL=C.UTF-8");
    }
    Matcher invisible = INVISIBLE.matcher(value);
    if (invisible.find()) {
      String found = Character.getName(value.codePointAt(invisible.start()));
      String rule = " must not begin or end with a space or contain a control character";
      throw new ConfigurationException(name + rule + ", but contains " + found);
    }
    if (QUOTED.matcher(value).matches()) {
      throw new ConfigurationException(
          name + " must not be enclosed in quotation marks; remove them");
    }
  }

  /**
   * Returns whether a value is exactly what the operator set. Java decodes invalid bytes as
   * replacement characters, so a secret that consists of such bytes could be guessed. On Windows,
   * Java reads the environment as Unicode text, regardless of the charset.
   */
  static boolean isDecodedExactly(String value, String charset, String system) {
    return !value.contains("\uFFFD")
        && (charset.equals("UTF-8")
            || system.startsWith("Windows")
            || value.chars().allMatch(character -> character < 128));
  }
}
