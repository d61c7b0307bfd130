package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import io.micronaut.context.exceptions.ConfigurationException;
import io.micronaut.core.io.ResourceLoader;
import java.io.IOException;
import java.net.URL;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requires libraries with which a create works, because a neighbour on the class path may bring
 * others: with two versions of Netty, requests may get neither answer nor log line; with an old
 * Jackson, every create fails.
 */
final class Libraries {

  private static final Logger LOG = LoggerFactory.getLogger(Libraries.class);

  private Libraries() {}

  /** Throws {@link ConfigurationException} with the file, its version and the one needed. */
  static void require(ResourceLoader classPath) {
    requireOneNetty(classPath);
    require(Logger.class, "slf4j-api 2.0", () -> LOG.atDebug().log("The libraries are tried"));
    require(JsonFactory.class, "jackson-core 2.18", Libraries::readAndWrite);
  }

  private static void requireOneNetty(ResourceLoader classPath) {
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

  /** Uses a library as a create does: a missing class or method shows that it is too old. */
  static void require(Class<?> part, String needed, Runnable trial) {
    try {
      trial.run();
    } catch (LinkageError e) {
      String found = part.getPackage().getImplementationVersion();
      URL file = part.getResource(part.getSimpleName() + ".class");
      throw new ConfigurationException(
          "the class path must have " + needed + " or later, but has " + found + " at " + file, e);
    }
  }

  private static void readAndWrite() {
    NewPlantJson.read("{\"id\":1,\"name\":\"fern\",\"tag\":\"shade\"}".getBytes(UTF_8));
    requireNonNull(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8); // in settings.properties
  }
}
