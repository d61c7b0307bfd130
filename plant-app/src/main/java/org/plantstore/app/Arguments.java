package org.plantstore.app;

import io.micronaut.context.exceptions.ConfigurationException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The parsed arguments of a command.
 *
 * @param settings the settings, as a map from variable names to values
 * @param options the options that only this command accepts, such as {@code --token}
 */
record Arguments(Map<String, String> settings, List<String> options) {

  private static final String REPEATABLE = "--claim=";

  /** The options of each command. An option that ends with {@code =} requires a value. */
  private static final Map<String, List<String>> OPTIONS =
      Map.of(
          Check.NAME, List.of("--token"), "token", List.of("--subject=", "--minutes=", REPEATABLE));

  /**
   * Parses the arguments of a command. The option for a setting is the variable's name in
   * lowercase, with hyphens instead of underscores.
   *
   * @throws ConfigurationException if an argument is unknown or repeated, or if {@link
   *     LegibleSettings#requireExact} rejects the value of an option. The exception's message never
   *     contains the value.
   */
  static Arguments of(String command, String... arguments) {
    Map<String, String> known = known(command);
    Arguments read = new Arguments(new HashMap<>(), new ArrayList<>());
    Set<String> given = new HashSet<>();
    for (String argument : arguments) {
      String name = argument.replaceFirst("(?s)=.*", "=");
      String value = argument.substring(name.length());
      String variable = known.get(name);
      if (variable == null || LegibleSettings.isReadBeforeArguments(variable)) {
        int number = List.of(arguments).indexOf(argument) + 1;
        throw new ConfigurationException(
            // The message omits an argument without an equals sign, because that argument may be a
            // secret.
            (name.matches("[A-Za-z._-]{1,40}=") ? name + "VALUE" : "argument " + number)
                + (" is not an option of " + command + "; " + remedy(name, known)));
      }
      if (!given.add(name) && !name.equals(REPEATABLE)) {
        throw new ConfigurationException(name + "VALUE may be given only once");
      }
      if (variable.isEmpty()) {
        LegibleSettings.requireExact(name + "VALUE", value);
        read.options.add(argument);
      } else {
        read.settings.put(variable, value);
      }
    }
    return read;
  }

  /**
   * Returns a map from each known argument to the variable that it sets, or to an empty string if
   * the argument is not a setting.
   */
  private static Map<String, String> known(String command) {
    Map<String, String> known = new TreeMap<>();
    for (String variable : LegibleSettings.all()) {
      known.put("--" + variable.toLowerCase(Locale.ROOT).replace('_', '-') + "=", variable);
    }
    OPTIONS.getOrDefault(command, List.of()).forEach(option -> known.put(option, ""));
    return known;
  }

  private static String remedy(String name, Map<String, String> known) {
    String variable = Spelling.closest(name, known.keySet()).map(known::get).orElse("");
    return LegibleSettings.isReadBeforeArguments(variable)
        ? "set the environment variable " + variable + " instead"
        : Spelling.remedy(name, known.keySet()).replace("=", "=VALUE");
  }
}
