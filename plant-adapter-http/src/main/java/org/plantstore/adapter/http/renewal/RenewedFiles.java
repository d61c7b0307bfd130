package org.plantstore.adapter.http.renewal;

import io.micronaut.context.exceptions.ConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds a value that is read from files, such as a certificate or secrets, and replaces it when the
 * files contain a new usable value. Kubernetes updates such files by replacing a symbolic link in
 * their path. A file watcher would miss that change, so the files are read every second instead.
 * Safe for use by multiple threads.
 *
 * @param <T> the type of the value. The result of the value's {@code toString} method is logged.
 */
public final class RenewedFiles<T> {

  private static final Logger LOG = LoggerFactory.getLogger(RenewedFiles.class);

  private static final int MAX_BYTES = 256 * 1024;

  private final String variable;
  private final UnaryOperator<T> read;
  private volatile T current;
  private int failures;

  /**
   * Creates a holder with an initial value. The function {@code read} receives the current value,
   * and returns it if the files are unchanged. The function throws a {@link ConfigurationException}
   * if the files contain no usable value.
   *
   * @param variable the setting that names the files
   * @param first the initial value
   * @param read a function that reads the files and returns their value
   */
  public RenewedFiles(String variable, T first, UnaryOperator<T> read) {
    this.variable = variable;
    this.read = read;
    this.current = first;
  }

  /**
   * Returns the content of a file. Only regular files are read, because reading a pipe, for
   * example, could block.
   *
   * @param variable the setting that names the file
   * @param file the file
   * @throws ConfigurationException if the file cannot be read, is larger than 256 KiB, or is not a
   *     regular file
   */
  public static byte[] bytes(String variable, Path file) {
    String fault = "is missing or is not a regular file";
    if (Files.isRegularFile(file)) {
      try (InputStream input = Files.newInputStream(file)) {
        byte[] bytes = input.readNBytes(MAX_BYTES + 1);
        if (bytes.length <= MAX_BYTES) {
          return bytes;
        }
        fault = "is larger than " + MAX_BYTES + " bytes";
      } catch (IOException e) {
        fault = "cannot be read (" + e.getClass().getSimpleName() + ")";
      }
    }
    throw new ConfigurationException(
        "%s must name a readable file, but %s %s".formatted(variable, file, fault));
  }

  /** Returns the usable value that was read most recently. */
  public T current() {
    return current;
  }

  /**
   * Reads the files again, and keeps the current value if the files contain no usable value. Call
   * this method every second, and never from two threads at the same time.
   *
   * @return whether the value has changed
   */
  public boolean renew() {
    T known = current;
    try {
      T found = read.apply(known);
      failures = 0;
      if (found.equals(known)) {
        return false;
      }
      current = found;
      LOG.info("{} has changed; now using {}", variable, found);
      return true;
    } catch (ConfigurationException e) {
      failures++;
      // An error is not logged until it has lasted 10 s, because related files, such as a
      // certificate and its private key, are not always replaced at the same time. The warning is
      // repeated every hour.
      if (failures % 3_600 == 10) {
        String fault = e.getMessage();
        LOG.warn("{} cannot be reloaded; {} will remain in use: {}", variable, known, fault);
      }
      return false;
    }
  }
}
