package org.plantstore.adapter.http.startup;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.ResourceLoader;
import java.io.IOException;
import java.net.URL;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;

/**
 * Refuses a class path with two versions of Netty, for example one that a database driver brings
 * along. Requests would get neither a response nor a log line.
 */
final class NettyVersions {

  private NettyVersions() {}

  static void requireOne(ResourceLoader classPath) {
    Map<String, URL> files = new TreeMap<>();
    classPath
        .getResources("META-INF/io.netty.versions.properties")
        .forEach(file -> addVersions(file, files));
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
      // Libraries that belong to Netty but have their own version numbers do not begin with 4.
      content
          .findAll("(?<=\\.version=)4\\.\\S+")
          .forEach(it -> files.putIfAbsent(it.group(), file));
    } catch (IOException e) {
      // The jar contains Netty under another package name, as that of gRPC does.
    }
  }
}
