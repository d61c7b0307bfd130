package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.ResourceLoader;
import java.io.IOException;
import java.net.URL;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;

/**
 * Requires a single version of Netty, because another library on the class path may bring its own:
 * with two versions, requests may get neither a response nor a log line.
 */
final class Libraries {

  private Libraries() {}

  /** Throws {@link ConfigurationException} with the versions and their files if there are more. */
  static void require(ResourceLoader classPath) {
    Map<String, URL> files = new TreeMap<>();
    String resource = "META-INF/io.netty.versions.properties";
    classPath.getResources(resource).forEach(file -> addVersions(file, files));
    if (files.size() > 1) {
      throw new ConfigurationException(
          "the class path must have one version of Netty, but has "
              + files
              + "; remove the others");
    }
  }

  private static void addVersions(URL file, Map<String, URL> files) {
    try (Scanner content = new Scanner(file.openStream(), UTF_8)) {
      new URL(file, "../io/netty/").openStream().close();
      // Others than 4 are of libraries with numbers of their own, such as Netty's incubator.
      content
          .findAll("(?<=\\.version=)4\\.\\S+")
          .forEach(it -> files.putIfAbsent(it.group(), file));
    } catch (IOException e) { // a Netty under another package, such as in gRPC's jar
      return;
    }
  }
}
