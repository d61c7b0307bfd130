package org.plantstore.adapter.http;

import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.ResourceLoader;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;

/**
 * Requires one version of Netty: with jars of two, requests may get neither answer nor log line.
 */
final class NettyVersion {

  /** Throws {@link ConfigurationException} with the remedy if there are several. */
  static void requireOne(ResourceLoader classPath) {
    Map<String, URL> files = new TreeMap<>();
    String resource = "META-INF/io.netty.versions.properties";
    classPath.getResources(resource).forEach(file -> addVersions(file, files));
    if (files.size() > 1) {
      String demand = "the class path must have one version of Netty, but has " + files;
      throw new ConfigurationException(demand + "; import plant-bom, which manages the version");
    }
  }

  private static void addVersions(URL file, Map<String, URL> files) {
    try (Scanner content = new Scanner(file.openStream(), StandardCharsets.UTF_8)) {
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
