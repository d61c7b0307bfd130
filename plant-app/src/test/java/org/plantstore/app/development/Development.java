package org.plantstore.app.development;

import java.io.IOException;
import java.nio.file.Path;
import org.plantstore.app.Main;

/**
 * Runs the service as in production, but with an embedded database and a key of this run. The
 * database is durable and kept between runs, in one folder that may be removed: {@code
 * .plant-store} in the user's home, or the system property {@code development.folder}.
 */
public final class Development {

  static final String FOLDER = "development.folder";

  private Development() {}

  /** Runs until the process is asked to end; the arguments are those of {@link Main}. */
  public static void main(String... arguments) {
    System.setProperty("root.level", "warn"); // of the log
    Path folder =
        Path.of(System.getProperty(FOLDER, System.getProperty("user.home") + "/.plant-store"));
    try {
      System.setProperty("database.url", DevelopmentDatabase.start(folder.toAbsolutePath()));
    } catch (IOException e) {
      System.err.println("The development database does not start: " + e.getMessage());
      System.exit(1);
      return;
    }
    System.setProperty(FOLDER, folder.toString());
    System.setProperty("database.username", DevelopmentDatabase.USERNAME);
    System.setProperty("database.password", DevelopmentDatabase.PASSWORD);
    System.setProperty("jwt.secret", DevelopmentKey.SECRET);
    System.setProperty("drain.seconds", "0"); // no load balancer has to notice the end
    Main.main(arguments);
  }
}
