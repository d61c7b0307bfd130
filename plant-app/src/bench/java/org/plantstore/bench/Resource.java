package org.plantstore.bench;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Objects;

/** The files of this benchmark. */
final class Resource {

  private Resource() {}

  /** Answers where a file of this package is. */
  static Path path(String name) {
    return path(Objects.requireNonNull(Resource.class.getResource(name), name));
  }

  /** Answers where the classes are. */
  static Path classes() {
    CodeSource source = Resource.class.getProtectionDomain().getCodeSource();
    return path(Objects.requireNonNull(source).getLocation());
  }

  private static Path path(URL file) {
    try {
      URI address = file.toURI();
      return Path.of(address);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
