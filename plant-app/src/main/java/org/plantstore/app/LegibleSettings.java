package org.plantstore.app;

import static java.util.Objects.requireNonNull;

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.ApplicationContextBuilder;
import io.micronaut.context.ApplicationContextConfiguration;
import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The settings as they are before a context or a logger reads them. */
final class LegibleSettings {

  /** What a reader overlooks: space around a value, and control characters. */
  private static final Pattern INVISIBLE =
      Pattern.compile("\\A#|#\\z|[\\p{Cc}\\p{Zl}\\p{Zp}]".replace("#", "[\\p{Z}\\p{Cf}]"));

  /** Quotation marks that no shell has removed, such as those in a file of Docker or systemd. */
  private static final Pattern QUOTED =
      Pattern.compile("(?s)([\"'`]).*\\1|[\\p{Pi}\\p{Pf}\u201a\u201e].*[\\p{Pi}\\p{Pf}]");

  private LegibleSettings() {}

  /**
   * Requires that the declared variables and the arguments were decoded exactly and have no
   * invisible character, and that the variables of logging are usable.
   *
   * @throws ConfigurationException otherwise
   */
  static void require(Map<String, String> environment, String... arguments) {
    // First, because the modules that declare variables have loggers.
    requireOneOf(environment, "LOG_FORMAT", "text", "json");
    requireOneOf(environment, "LOG_LEVEL", "info", "debug", "warn");
    requireOneOf(environment, "ACCESS_LOG", "off", "on");
    ApplicationContextBuilder declared = ApplicationContext.builder();
    for (String variable :
        requireNonNull(
            ((ApplicationContextConfiguration) declared).getEnvironmentVariableIncludes())) {
      requireExact(variable, environment.getOrDefault(variable, ""));
    }
    for (String argument : arguments) {
      String[] nameAndValue = argument.split("=", 2);
      requireExact(nameAndValue[0], nameAndValue[nameAndValue.length - 1]);
    }
  }

  private static void requireExact(String name, String value) {
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
   * Returns whether a value has what was set; a secret of replacement characters could be guessed.
   * Java gets the environment of Windows as text, whatever the charset.
   */
  static boolean isDecodedExactly(String value, String charset, String system) {
    return !value.contains("\uFFFD")
        && (charset.equals("UTF-8")
            || system.startsWith("Windows")
            || value.chars().allMatch(character -> character < 128));
  }

  /** Requires one of these values, of which the first is the default. */
  private static void requireOneOf(
      Map<String, String> environment, String variable, String... values) {
    String value = environment.getOrDefault(variable, values[0]);
    if (!List.of(values).contains(value)) {
      String choice = String.join(" or ", values);
      throw new ConfigurationException(
          variable + " must be " + choice + ", but is \"" + value + '"');
    }
  }
}
