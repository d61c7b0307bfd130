package org.plantstore.app;

import static java.util.stream.Collectors.toMap;

import io.micronaut.context.exceptions.ConfigurationException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The arguments of a command.
 *
 * @param settings the values of the settings by their variables
 * @param options the command's own options, such as {@code --token}
 */
record Arguments(Map<String, String> settings, List<String> options) {

  private static final String REPEATABLE = "--claim=";

  /** The commands' own options. Those that end with an equals sign require a value. */
  private static final Map<String, List<String>> OPTIONS =
      Map.of(
          Check.NAME, List.of("--token"), "token", List.of("--subject=", "--minutes=", REPEATABLE));

  /**
   * Reads arguments. A setting is the name of its variable in lower case with hyphens.
   *
   * @param variables the variables that the modules on the class path declare
   * @throws ConfigurationException if an argument is unknown or repeated, or the value of an option
   *     is illegible; the message quotes no value
   */
  static Arguments of(String command, Collection<String> variables, String... arguments) {
    Map<String, String> variablesByName =
        Stream.of(variables, LegibleSettings.OF_START_SCRIPT)
            .flatMap(Collection::stream)
            .collect(
                toMap(
                    each -> "--" + each.toLowerCase(Locale.ROOT).replace('_', '-') + "=",
                    each -> each));
    List<String> own = OPTIONS.getOrDefault(command, List.of());
    Map<String, String> settings = new LinkedHashMap<>();
    List<String> options = new ArrayList<>();
    Set<String> given = new HashSet<>();
    for (String argument : arguments) {
      String name = argument.replaceFirst("(?s)=.*", "=");
      String variable = variablesByName.get(name);
      if (variable == null ? !own.contains(name) : isReadEarlier(variable)) {
        int number = List.of(arguments).indexOf(argument) + 1;
        throw new ConfigurationException(
            // Without an equals sign, the end of the argument may be a secret.
            (name.matches("[A-Za-z._-]{1,40}=") ? name + "VALUE" : "argument " + number)
                + (" is not an option of " + command + "; ")
                + remedy(name, variablesByName, own));
      }
      if (!given.add(name) && !name.equals(REPEATABLE)) {
        throw new ConfigurationException(name + "VALUE must be given only once");
      }
      if (variable == null) {
        LegibleSettings.requireExact(name + "VALUE", argument.substring(name.length()));
        options.add(argument);
      } else {
        settings.put(variable, argument.substring(name.length()));
      }
    }
    return new Arguments(settings, options);
  }

  private static String remedy(String name, Map<String, String> variablesByName, List<String> own) {
    if (!name.matches("(?s)-.*|.*=")) {
      return "a command comes first, and each option starts with --";
    }
    Set<String> known = new TreeSet<>(variablesByName.keySet());
    known.addAll(own);
    String variable = variablesByName.get(Spelling.closest(name, known).orElse(""));
    if (variable != null && isReadEarlier(variable)) {
      return variable + " must be an environment variable, because it is read before the arguments";
    }
    return known.contains(name + "=")
        ? name + " needs a value: " + name + "=VALUE"
        : Spelling.remedy(name, known).replace("=", "=VALUE");
  }

  private static boolean isReadEarlier(String variable) {
    return LegibleSettings.LOGGING.containsKey(variable)
        || LegibleSettings.OF_START_SCRIPT.contains(variable);
  }
}
