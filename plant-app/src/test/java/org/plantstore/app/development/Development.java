package org.plantstore.app.development;

import java.io.IOException;
import java.nio.file.Path;
import org.plantstore.app.Main;

/**
 * Runs the service as in production, except that its database is embedded and its key is made for
 * this run. The database is durable and kept between runs, in one folder that may be removed.
 */
public final class Development {

  private static final Path FOLDER = Path.of(System.getProperty("user.home"), ".plant-store");

  private Development() {}

  /**
   * Runs until the process is asked to end.
   *
   * @param arguments settings, as for {@link Main}
   * @throws IOException if the database cannot be started
   */
  public static void main(String... arguments) throws IOException {
    DevelopmentDatabase database = DevelopmentDatabase.start(FOLDER);
    System.setProperty("database.url", database.url());
    System.setProperty("database.username", DevelopmentDatabase.USERNAME);
    System.setProperty("database.password", DevelopmentDatabase.PASSWORD);
    System.setProperty("jwt.secret", DevelopmentKey.SECRET);
    System.setProperty("development.folder", FOLDER.toString());
    Main.main(arguments);
  }
}
