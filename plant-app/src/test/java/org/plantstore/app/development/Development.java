package org.plantstore.app.development;

import java.io.IOException;
import java.nio.file.Path;
import org.plantstore.app.Main;

/**
 * Runs the service as in production, except that it uses an embedded database and a key generated
 * for this run. The database is durable and is kept between runs in a single folder, which can be
 * deleted. The system property {@code development.folder} names the folder; the default is {@code
 * .plant-store} in the user's home directory.
 */
public final class Development {

  static final String FOLDER = "development.folder";

  private Development() {}

  /** Runs until the process is stopped, and accepts the same arguments as {@link Main}. */
  public static void main(String... arguments) {
    System.setProperty("root.level", "warn"); // logs only warnings and errors
    Path folder =
        Path.of(System.getProperty(FOLDER, System.getProperty("user.home") + "/.plant-store"));
    try {
      System.setProperty("database.url", DevelopmentDatabase.start(folder.toAbsolutePath()));
    } catch (IOException e) {
      System.err.println("The development database cannot start: " + e.getMessage());
      System.exit(1);
      return;
    }
    System.setProperty(FOLDER, folder.toString());
    System.setProperty("database.username", DevelopmentDatabase.USERNAME);
    System.setProperty("database.password", DevelopmentDatabase.PASSWORD);
    System.setProperty("jwt.secret", DevelopmentKey.SECRET);
    System.setProperty("drain.seconds", "0"); // no load balancer has to notice the shutdown
    Main.main(arguments);
  }
}
