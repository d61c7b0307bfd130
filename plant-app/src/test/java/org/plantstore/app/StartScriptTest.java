package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Calls the start script through symbolic links and checks the command with which it starts Java. A
 * fake {@code java} of any version prints its arguments. {@code .ci/run} tests the script with a
 * real Java and in the image.
 */
class StartScriptTest {

  private static final Path SCRIPT = Path.of("src", "main", "scripts", "plant-store");

  @TempDir Path root;

  private final Map<String, String> environment = new HashMap<>();
  private Path installation;
  private Path link;
  private Path java;

  @BeforeEach
  void install() throws IOException {
    Program.requireInstalled("readlink");
    root = root.toRealPath();
    installation = Files.createDirectory(root.resolve("plant store"));
    Files.copy(SCRIPT, installation.resolve("plant-store"), StandardCopyOption.COPY_ATTRIBUTES);
    Files.createFile(installation.resolve("plant-app.aot"));
    Files.createSymbolicLink(root.resolve("first"), Path.of("plant store/plant-store"));
    Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
    link = Files.createSymbolicLink(elsewhere.resolve("link"), Path.of("../first"));
    useJava("25.0.3");
  }

  @Test
  void options_of_the_user_come_last_and_are_not_expanded_to_file_names() throws IOException {
    environment.put("JAVA_OPTS", "-XX:NewSize=1m  -Dany=*");

    Path largePages = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
    boolean offered = Files.exists(largePages) && !Files.readString(largePages).contains("[never]");
    List<String> options = new ArrayList<>(options());
    assertEquals(
        offered, options.remove("-XX:+UseTransparentHugePages"), "only if the kernel offers them");
    assertEquals(
        List.of(
            "-XX:AOTCache=" + installation.resolve("plant-app.aot"),
            "-Xlog:aot*=off",
            "-XX:+UseCompactObjectHeaders",
            "-XX:+UseParallelGC",
            "-Xmx160m",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:NewSize=1m",
            "-Dany=*",
            "-jar",
            installation.resolve("plant-app.jar").toString(),
            "--an=argument 1"),
        options);

    Files.delete(installation.resolve("plant-app.aot"));
    assertFalse(options().contains("-Xlog:aot*=off"), "no option may mention the missing cache");
  }

  /** Java refuses unknown options, and some options exclude each other. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          24     |                   |                         | -XX:+UseCompactObjectHeaders
          24     |                   |                         | -Xlog:aot*=off
          25     | PLANT_STORE_AOT   | off                     | -Xlog:aot*=off
          25     | JAVA_OPTS         | -XX:SharedArchiveFile=x | -Xlog:aot*=off
          26-ea  | JAVA_OPTS         | -Xmx1g                  | -Xmx160m
          25     | JAVA_OPTS         | -XX:MaxRAMPercentage=50 | -Xmx160m
          25     | JAVA_OPTS         | '-XX:+UseZGC\n-Xmx1g'   | -XX:+UseParallelGC
          25     | JDK_JAVA_OPTIONS  | -XX:+UseG1GC            | -XX:+UseTransparentHugePages
          25     | _JAVA_OPTIONS     | -XX:+UseG1GC            | -XX:+UseParallelGC
          25     | JDK_JAVA_OPTIONS  | @FILE                   | -XX:+UseParallelGC
          """)
  void default_option_is_left_out_if_java_lacks_it_or_the_user_chose_another(
      String version, @Nullable String variable, @Nullable String value, String option)
      throws IOException {
    useJava(version);
    if (variable != null && value != null) {
      Path file = Files.writeString(root.resolve("options"), "# -Xms1m\n-XX:+UseZGC");
      environment.put(variable, value.replace("FILE", file.toString()));
    }
    assertFalse(options().contains(option));
  }

  @Test
  void options_that_do_not_set_the_maximum_heap_leave_its_default() throws IOException {
    environment.put(
        "JAVA_OPTS",
        "-Xms64m -XX:MinRAMPercentage=30 -XX:InitialRAMPercentage=10 -XX:SoftMaxHeapSize=100m @/nowhere");
    assertTrue(options().contains("-Xmx160m"));
  }

  @Test
  void java_is_found_in_java_home_or_on_the_path_and_a_missing_java_is_reported()
      throws IOException {
    Path tools = Files.createDirectory(root.resolve("tools"));
    for (String tool : List.of("sh", "readlink", "sed", "grep")) {
      Files.createSymbolicLink(tools.resolve(tool), Path.of(Program.requireInstalled(tool)));
    }
    environment.putAll(Map.of("JAVA_HOME", "", "PATH", tools.toString()));
    assertRefusal("there is no java on the PATH; add it, or set JAVA_HOME");
    Files.createSymbolicLink(tools.resolve("java"), java);
    assertTrue(options().contains("-XX:+UseParallelGC"));

    environment.put("JAVA_HOME", "/nowhere");
    assertRefusal("JAVA_HOME must be the home of a JDK or JRE, but there is no /nowhere/bin/java");
  }

  @ParameterizedTest
  @CsvSource({"16.0.2, Java 16", "1.8.0_402, Java 8", "'', another program"})
  void java_that_is_too_old_is_refused_with_its_path_and_version(String version, String actual)
      throws IOException {
    useJava(version);
    assertRefusal("Java 17 or later is required, but " + java + " is " + actual);

    Files.delete(Path.of(environment.get("JAVA_HOME"), "release"));
    assertRefusal("Java 17 or later is required, but " + java + " is " + actual);
  }

  /** Creates a program that the script mistakes for Java of this version. */
  private void useJava(String version) throws IOException {
    Path home = Files.createDirectory(root.resolve("java " + version));
    Files.writeString(home.resolve("release"), "OS_NAME=any\nJAVA_VERSION=\"" + version + "\"\n");
    String versionLine = "openjdk version \"" + version + "\" 2020-01-01";
    java = Files.createDirectory(home.resolve("bin")).resolve("java");
    Files.writeString(
        java,
        "#!/bin/sh\n[ \"$1\" = -version ] && echo '"
            + versionLine
            + "' >&2 || printf '%s\\n' \"$@\"\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    environment.put("JAVA_HOME", home.toString());
  }

  private List<String> options() throws IOException {
    Program.Result result = run();
    result.requireSuccess();
    return result.output().lines().toList();
  }

  private void assertRefusal(String reason) throws IOException {
    assertEquals(new Program.Result(1, "plant-store cannot start: " + reason + "\n"), run());
  }

  private Program.Result run() throws IOException {
    return Program.run(root, environment, link.toString(), "--an=argument 1");
  }
}
