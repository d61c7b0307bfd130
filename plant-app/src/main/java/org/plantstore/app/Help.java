package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;

/** Builds the {@code --help} output from commands.txt and the settings in configuration.md. */
final class Help {

  private static final Pattern CELL_END = Pattern.compile(" ?\\| ?");

  /** Matches the first cell of a table row that describes settings. */
  private static final Pattern NAMES = Pattern.compile("[A-Z_, ]+");

  private Help() {}

  static String text() throws IOException {
    StringBuilder text = new StringBuilder(read("commands.txt"));
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

  /** Returns the text of configuration.md without the Markdown syntax for links and code. */
  private static String page() throws IOException {
    return read("configuration.md").replaceAll("\\[([^]\n]*)]\\([^)\n]*\\)", "$1").replace("`", "");
  }

  private static String read(String name) throws IOException {
    try (InputStream file = requireNonNull(Help.class.getResourceAsStream(name), name)) {
      return new String(file.readAllBytes(), UTF_8);
    }
  }
}
