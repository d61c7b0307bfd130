package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the start script makes of a Java, shown by programs that look like one of any version and
 * print their arguments. That real ones start with it, {@code .ci/run} shows.
 */
class StartScriptTest {

  private static final Path SCRIPT = Path.of("src", "main", "scripts", "plant-store");
  private static final String COMPACT_OBJECT_HEADERS = "-XX:+UseCompactObjectHeaders";
  private static final String LARGE_PAGES = "-XX:+UseTransparentHugePages";
  private static final String PARALLEL_COLLECTOR = "-XX:+UseParallelGC";

  @TempDir Path root;

  private final Map<String, String> environment = new HashMap<>();
  private Path installation;

  @BeforeEach
  void install() throws IOException {
    Program.requireInstalled("sh");
    Program.requireInstalled("readlink");
    environment.put("JAVA_OPTS", "");
    environment.put("JDK_JAVA_OPTIONS", "");
    environment.put("JAVA_TOOL_OPTIONS", "");
    environment.put("PLANT_STORE_AOT", "");
    root = root.toRealPath();
    installation = Files.createDirectory(root.resolve("plant store"));
    Files.copy(SCRIPT, installation.resolve("plant-store"), StandardCopyOption.COPY_ATTRIBUTES);
  }

  @ParameterizedTest
  @ValueSource(ints = {17, 21, 24})
  void older_java_gets_no_option_that_it_does_not_know(int version) throws IOException {
    putCacheThere();
    useJava(version + ".0.1");

    assertEquals(
        List.of(
            PARALLEL_COLLECTOR,
            "-Xmx160m",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:NewRatio=1",
            "-jar",
            installation.resolve("plant-app.jar").toString()),
        optionsOnAnyKernel());
  }

  @ParameterizedTest
  @ValueSource(strings = {"25", "25.0.3", "26-ea"})
  void newer_java_gets_compact_headers_and_the_cache(String version) throws IOException {
    putCacheThere();
    useJava(version);

    assertEquals(
        List.of(
            "-XX:AOTCache=" + installation.resolve("plant-app.aot"),
            "-Xlog:aot*=off",
            COMPACT_OBJECT_HEADERS,
            PARALLEL_COLLECTOR,
            "-Xmx160m",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:NewRatio=1",
            "-jar",
            installation.resolve("plant-app.jar").toString()),
        optionsOnAnyKernel());
  }

  @Test
  void large_pages_are_asked_for_where_the_kernel_gives_them() throws IOException {
    useJava("25.0.3");
    Path setting = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");
    boolean given = Files.exists(setting) && !Files.readString(setting).contains("[never]");

    assertEquals(given, options().contains(LARGE_PAGES));
  }

  @Test
  void cache_that_is_not_there_is_not_mentioned() throws IOException {
    useJava("25.0.3");

    assertFalse(mentionsCache(options()));
  }

  @Test
  void cache_can_be_switched_off() throws IOException {
    putCacheThere();
    useJava("25.0.3");
    environment.put("PLANT_STORE_AOT", "off");

    assertFalse(mentionsCache(options()));
  }

  @Test
  void options_of_the_user_come_last_and_are_no_patterns() throws IOException {
    useJava("25.0.3");
    environment.put("JAVA_OPTS", "-Xmx1g  -Dany=*");

    List<String> options = options();

    int last = options.indexOf("-jar");
    assertEquals(List.of("-Xmx1g", "-Dany=*"), options.subList(last - 2, last));
    assertTrue(options.indexOf("-XX:NewRatio=1") < last - 2, options.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "JAVA_OPTS, -XX:+UseG1GC",
    "JAVA_OPTS, -Xmx1g -XX:+UseZGC",
    "JAVA_OPTS, '-XX:+UseSerialGC\n-Xmx1g'",
    "JDK_JAVA_OPTIONS, -XX:+UseG1GC",
    "JAVA_TOOL_OPTIONS, -XX:+UseG1GC"
  })
  void collector_and_its_pages_give_way_to_that_of_the_user(String variable, String options)
      throws IOException {
    useJava("25.0.3");
    environment.put(variable, options);

    assertFalse(options().contains(PARALLEL_COLLECTOR));
    assertFalse(options().contains(LARGE_PAGES));
  }

  @ParameterizedTest
  @ValueSource(strings = {"-Xmx1g", "-Xms256m", "-XX:MaxRAMPercentage=50", "-XX:MaxHeapSize=1g"})
  void heap_gives_way_to_that_of_the_user(String options) throws IOException {
    useJava("25.0.3");
    environment.put("JAVA_OPTS", options);

    assertFalse(options().contains("-Xmx160m"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"-Xshare:auto", "-XX:SharedArchiveFile=any"})
  void cache_gives_way_to_an_archive_of_the_user(String options) throws IOException {
    putCacheThere();
    useJava("25.0.3");
    environment.put("JAVA_OPTS", options);

    assertFalse(mentionsCache(options()));
  }

  @Test
  void service_is_found_through_symbolic_links() throws IOException {
    useJava("17.0.1");
    Path link = root.resolve("link");
    Files.createSymbolicLink(link, Path.of("plant store", "plant-store"));
    Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
    Path second = Files.createSymbolicLink(elsewhere.resolve("second"), Path.of("..", "link"));

    Program.Ended ended = Program.run(elsewhere, environment, second.toString(), "--an=argument 1");

    ended.requireSuccess();
    List<String> arguments = ended.output().lines().toList();
    assertEquals(
        List.of("-jar", installation.resolve("plant-app.jar").toString(), "--an=argument 1"),
        arguments.subList(arguments.size() - 3, arguments.size()));
  }

  @Test
  void java_on_the_path_is_used_without_java_home() throws IOException {
    useJava("17.0.1");
    useToolsAnd(Path.of(environment.get("JAVA_HOME")).resolve("bin").resolve("java"));
    environment.put("JAVA_HOME", "");

    assertTrue(options().contains(PARALLEL_COLLECTOR));
  }

  @ParameterizedTest
  @CsvSource({"16.0.2, 16", "11.0.2, 11", "1.8.0_402, 8"})
  void java_that_is_too_old_is_named(String version, int major) throws IOException {
    useJava(version);
    assertRefusal("Java must be 17 or later, but " + java() + " is " + major);

    Files.delete(Path.of(environment.get("JAVA_HOME"), "release"));
    assertRefusal("Java must be 17 or later, but " + java() + " is " + major);
  }

  @Test
  void java_that_does_not_tell_its_version_in_a_file_is_asked() throws IOException {
    useJava("25.0.3");
    Files.writeString(Path.of(environment.get("JAVA_HOME"), "release"), "IMPLEMENTOR=\"any\"\n");

    assertTrue(options().contains(COMPACT_OBJECT_HEADERS));
  }

  @Test
  void other_program_is_no_java() throws IOException {
    useJava("");

    assertRefusal("Java must be 17 or later, but " + java() + " is another program");
  }

  @Test
  void absent_java_is_told() throws IOException {
    useToolsAnd();
    environment.put("JAVA_HOME", "");
    assertRefusal("there is no Java: set JAVA_HOME, or put java on the PATH");

    environment.put("JAVA_HOME", "/nowhere");
    assertRefusal("JAVA_HOME must be the home of a Java, but there is no /nowhere/bin/java");
  }

  private void putCacheThere() throws IOException {
    Files.createFile(installation.resolve("plant-app.aot"));
  }

  /** Makes a program that looks like a Java, as far as the script looks. */
  private void useJava(String version) throws IOException {
    Path home = Files.createDirectory(root.resolve("java " + version));
    Files.writeString(
        home.resolve("release"), "IMPLEMENTOR=\"any\"\nJAVA_VERSION=\"" + version + "\"\n");
    Path program = Files.createDirectory(home.resolve("bin")).resolve("java");
    Files.writeString(
        program,
        """
        #!/bin/sh
        if [ "$1" = -version ]; then
          echo 'openjdk version "%s" 2020-01-01' >&2
        else
          printf '%%s\\n' "$@"
        fi
        """
            .formatted(version));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    environment.put("JAVA_HOME", home.toString());
  }

  /** Leaves what the script calls on the path, and these programs. */
  private void useToolsAnd(Path... programs) throws IOException {
    Path folder = Files.createDirectory(root.resolve("path"));
    Stream<Path> tools =
        Stream.of("sh", "readlink", "sed", "grep").map(Program::requireInstalled).map(Path::of);
    for (Path program : Stream.concat(tools, Stream.of(programs)).toList()) {
      Files.createSymbolicLink(folder.resolve(program.getFileName()), program);
    }
    environment.put("PATH", folder.toString());
  }

  private List<String> options() throws IOException {
    Program.Ended ended = run();
    ended.requireSuccess();
    return ended.output().lines().toList();
  }

  private List<String> optionsOnAnyKernel() throws IOException {
    return options().stream().filter(option -> !option.equals(LARGE_PAGES)).toList();
  }

  private void assertRefusal(String reason) throws IOException {
    Program.Ended ended = run();
    assertEquals("plant-store does not start: " + reason + "\n", ended.output());
    assertEquals(1, ended.exitCode());
  }

  private Program.Ended run() throws IOException {
    return Program.run(root, environment, installation.resolve("plant-store").toString());
  }

  private String java() {
    return environment.get("JAVA_HOME") + "/bin/java";
  }

  private static boolean mentionsCache(List<String> options) {
    return options.stream().anyMatch(option -> option.contains("aot"));
  }
}
