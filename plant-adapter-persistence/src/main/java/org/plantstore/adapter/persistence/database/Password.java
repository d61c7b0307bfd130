package org.plantstore.adapter.persistence.database;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The account's password: fixed, or in a file that may change. Safe for use by many threads. */
public final class Password {

  private static final Logger LOG = LoggerFactory.getLogger(Password.class);

  private final @Nullable Path file;
  private volatile String last;
  private volatile boolean isReadable = true;

  public Password(String text) {
    file = null;
    last = text;
  }

  /** Reads the password in a file; throws ConfigurationException if there is none. */
  public Password(Path file) {
    this.file = file;
    last = read(file);
  }

  /** Returns the password that the file has now, or had last. */
  String now() {
    if (file != null) {
      try {
        last = read(file);
        isReadable = true;
      } catch (ConfigurationException e) {
        if (isReadable) {
          LOG.warn("The last password stays in use: {}", e.getMessage());
        }
        isReadable = false;
      }
    }
    return last;
  }

  /** Returns the content without the line break that editors write at its end. */
  private static String read(Path file) {
    String reason = "it is no file";
    try {
      if (Files.isRegularFile(file)) { // a pipe could block
        String password = Files.readString(file).replaceFirst("\n\\z", "");
        if (!password.isEmpty() && !password.endsWith("\r")) {
          return password;
        }
        reason = password.isEmpty() ? "it is empty" : "it ends with CARRIAGE RETURN";
      }
    } catch (IOException e) {
      reason = e.getClass().getSimpleName();
    }
    throw new ConfigurationException(
        "DATABASE_PASSWORD_FILE must be a file with a password, but "
            + file
            + " is not: "
            + reason);
  }
}
