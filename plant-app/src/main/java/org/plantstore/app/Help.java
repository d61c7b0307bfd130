package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;

/** The text of {@code --help}: the commands, and all settings, as their page has them. */
final class Help {

  private static final String COMMANDS =
      """
      plant-store [serve]   serves until SIGTERM
      plant-store migrate   brings the tables up to date, and ends
      plant-store check     reports whether these settings meet the requirements of a start here,
                            changes nothing, and ends: exit code 0 if so, otherwise 1
                  --token   also validates the token on standard input
      plant-store token     prints a token that is signed with the last secret, and has the issuer,
                            the audience and the claims that the settings require
                  --subject=gardener    the caller; none by default
                  --minutes=5           until it expires; 60 by default
                  --claim=name=value    a further claim, or another value for one

      plant-store --help, plant-store --version

      Settings are environment variables. Every command also accepts them as arguments, which
      override the variables: --management-port=8081 sets MANAGEMENT_PORT. Only LOG_FORMAT,
      LOG_LEVEL, ACCESS_LOG, JAVA_OPTS and PLANT_STORE_AOT must be variables.
      """;

  private static final Pattern CELL_END = Pattern.compile(" ?\\| ?");

  /** The first cell of a table of settings. */
  private static final Pattern NAMES = Pattern.compile("[A-Z_, ]+");

  private Help() {}

  static String text() throws IOException {
    StringBuilder text = new StringBuilder(COMMANDS);
    String heading = "";
    for (String line : page().lines().toList()) {
      String[] cells = CELL_END.split(line, -1);
      if (line.startsWith("## ")) {
        heading = "\n" + line.substring(3) + "\n";
      } else if (cells.length > 4 && NAMES.matcher(cells[1]).matches()) {
        String unit = cells.length == 5 || cells[3].isEmpty() ? "" : "; " + cells[3];
        text.append(heading + "  " + cells[1] + " (" + cells[2] + unit + ")\n");
        text.append("      " + cells[cells.length - 2] + "\n");
        heading = "";
      }
    }
    return text.toString();
  }

  /** Returns the page without the marks of Markdown. */
  private static String page() throws IOException {
    try (InputStream page = requireNonNull(Help.class.getResourceAsStream("configuration.md"))) {
      return new String(page.readAllBytes(), UTF_8)
          .replaceAll("\\[([^]\n]*)]\\([^)\n]*\\)", "$1")
          .replace("`", "");
    }
  }
}
