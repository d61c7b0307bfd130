package org.plantstore.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The unit for systemd passes systemd's own checks and matches the service. */
class SystemdTest {

  private static final String NAME = "plant-store.service";
  private static final String UNIT = Manifests.text(Manifests.FOLDER.resolve(NAME));
  private static final Path SCRIPTS = Path.of("src", "main", "scripts").toAbsolutePath();

  @Test
  void variables_exist_and_there_is_the_time_to_drain() {
    Manifests.assertDocumented(
        Arrays.stream(value("Environment").split(" ", -1))
            .map(variable -> variable.replaceFirst("=.*", ""))
            .toList());
    assertTrue(Integer.parseInt(value("TimeoutStopSec")) >= Manifests.shutdownSeconds());
    assertEquals(ServiceProcess.TERMINATED, Integer.parseInt(value("SuccessExitStatus")));
  }

  @Test
  void systemd_finds_no_fault_and_an_exposure_of_at_most_2(@TempDir Path folder)
      throws IOException {
    String analyze = Program.requireInstalled("systemd-analyze");
    // The path replaces that of the machine, whose other units would be reported too.
    Map<String, String> environment = Map.of("SYSTEMD_UNIT_PATH", folder.toString());
    Files.writeString(folder.resolve("sysinit.target"), "[Unit]\n"); // one that is empty is masked
    Files.writeString(
        folder.resolve(NAME), UNIT.replace("=/opt/plant-store/", "=" + SCRIPTS + "/"));

    assertEquals(
        new Program.Ended(0, ""),
        Program.run(folder, environment, analyze, "verify", "--man=no", "./" + NAME));
    String[] security = {
      analyze, "security", "--offline=true", "--threshold=20", "--no-pager", "./" + NAME
    };
    Program.run(folder, environment, security).requireSuccess();
  }

  private static String value(String setting) {
    return Pattern.compile("(?m)^" + setting + "=(.*)$")
        .matcher(UNIT)
        .results()
        .findFirst()
        .orElseThrow()
        .group(1);
  }
}
