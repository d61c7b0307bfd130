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
 * A value that is read from files, such as a certificate or secrets, and replaced when the files
 * contain another usable value. The files are read every second, because on Kubernetes they change
 * by a symbolic link above their folder, which a watch of the folder would miss. Safe for use by
 * many threads.
 *
 * @param <T> the type of the value, whose {@code toString} is logged
 */
public final class RenewedFiles<T> {

  private static final Logger LOG = LoggerFactory.getLogger(RenewedFiles.class);

  private static final int MAX_BYTES = 256 * 1024;

  private final String variable;
  private final UnaryOperator<T> read;
  private volatile T current;
  private int failures;

  /**
   * Creates the value.
   *
   * @param variable the setting that names the files
   * @param first the value now
   * @param read reads the files; receives the current value and may return it; throws {@link
   *     ConfigurationException} if the files contain no usable value
   */
  public RenewedFiles(String variable, T first, UnaryOperator<T> read) {
    this.variable = variable;
    this.read = read;
    this.current = first;
  }

  /**
   * Returns the content of a file.
   *
   * @throws ConfigurationException if the file cannot be read, or reading it could block, as with a
   *     pipe, or exhaust the memory
   */
  public static byte[] bytes(String variable, Path file) {
    String reason = "it is no file";
    if (Files.isRegularFile(file)) {
      try (InputStream input = Files.newInputStream(file)) {
        byte[] bytes = input.readNBytes(MAX_BYTES + 1);
        if (bytes.length <= MAX_BYTES) {
          return bytes;
        }
        reason = "it has more than " + MAX_BYTES + " bytes";
      } catch (IOException e) {
        reason = e.getClass().getSimpleName();
      }
    }
    throw new ConfigurationException(
        variable + " must be a file that can be read, but " + file + " cannot: " + reason);
  }

  public T current() {
    return current;
  }

  /**
   * Reads the files. Call it every second, in one thread at a time.
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
      LOG.info("{} has changed, and now has {}", variable, found);
      return true;
    } catch (ConfigurationException e) {
      failures++;
      // One line an hour, the first after 10 s, because related files are replaced one by one.
      if (failures % 3_600 == 10) {
        String fault = e.getMessage();
        LOG.warn("{} cannot be renewed; {} stays in use: {}", variable, known, fault);
      }
      return false;
    }
  }
}
