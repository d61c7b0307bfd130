package org.plantstore.adapter.persistence.database;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The password of the account: fixed, or in a file that may change. Safe for use by many threads.
 */
public final class Password {

  private static final Logger LOG = LoggerFactory.getLogger(Password.class);

  private final @Nullable Path file;
  private volatile String last;
  private volatile boolean isReadable = true;

  /** Creates a password that does not change. */
  public Password(String text) {
    file = null;
    last = text;
  }

  /**
   * Creates the password in a file.
   *
   * @throws ConfigurationException if the file has none
   */
  public Password(Path file) {
    this.file = file;
    try {
      last = read(file);
    } catch (IOException e) {
      throw new ConfigurationException(
          "DATABASE_PASSWORD_FILE must be a file with a password, but "
              + file
              + " is not: "
              + reason(e));
    }
  }

  /** Returns the password that the file has now, or had last. */
  String now() {
    if (file != null) {
      try {
        last = read(file);
        isReadable = true;
      } catch (IOException e) {
        if (isReadable) {
          LOG.warn(
              "DATABASE_PASSWORD_FILE cannot be read; the last password stays in use: {}",
              reason(e));
        }
        isReadable = false;
      }
    }
    return last;
  }

  private static String reason(IOException failure) {
    return failure.getClass() == IOException.class
        ? String.valueOf(failure.getMessage())
        : failure.getClass().getSimpleName();
  }

  /** Returns the content without the line break that editors write at its end. */
  private static String read(Path file) throws IOException {
    String password = Files.readString(file).replaceFirst("\n\\z", "");
    if (password.isEmpty()) {
      throw new IOException("it is empty");
    }
    return password;
  }
}
