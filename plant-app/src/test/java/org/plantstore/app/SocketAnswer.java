package org.plantstore.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;

/**
 * An answer that was read from a socket.
 *
 * @param isLast whether the service has said that it closes the connection
 */
record SocketAnswer(int status, boolean isLast) {

  private static final String CONTENT_LENGTH = "content-length: ";

  /** Reads an answer to its end, and nothing behind it. */
  static SocketAnswer read(InputStream input) throws IOException {
    int status = Integer.parseInt(line(input).split(" ", 3)[1]);
    boolean isLast = false;
    int bodyBytes = 0;
    for (String header = header(input); !header.isEmpty(); header = header(input)) {
      isLast |= header.equals("connection: close");
      if (header.startsWith(CONTENT_LENGTH)) {
        bodyBytes = Integer.parseInt(header.substring(CONTENT_LENGTH.length()));
      }
    }
    input.skipNBytes(bodyBytes);
    return new SocketAnswer(status, isLast);
  }

  private static String header(InputStream input) throws IOException {
    return line(input).toLowerCase(Locale.ROOT);
  }

  private static String line(InputStream input) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int read = input.read(); read != '\n'; read = input.read()) {
      if (read < 0) {
        throw new EOFException("closed after: " + line.toString(ISO_8859_1));
      }
      line.write(read);
    }
    return line.toString(ISO_8859_1).strip();
  }
}
