package org.plantstore.app;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Settings with which the service can start, but which probably do not do what is expected. */
final class DoubtfulSettings {

  private static final long MIN_HEAP_MEGABYTES = 128;

  /**
   * Variables, with their values, that begin like settings but that others set: Kubernetes and
   * Docker for a service or a linked container, such as {@code DATABASE_PORT_5432_TCP_ADDR};
   * Marathon, such as {@code PORT0}; systemd for sockets; hosting providers for further addresses
   * of a database; and credentials of other programs.
   */
  private static final Pattern OF_OTHERS =
      Pattern.compile(
          "(?is)(.+_SERVICE_(HOST|PORT)(_.+)?|.+_PORT_\\d+_(TCP|UDP|SCTP)(_.+)?|.+_ENV_.+"
              + "|PORTS|PORT_?\\d+|LISTEN_(FDS|PID|PIDFDID|FDNAMES)"
              + "|DATABASE_(PORT|[A-Z_]+_URL|URL_UNPOOLED)|ACCESS_(TOKEN|KEY)(_.+)?)=.*"
              + "|.+_PORT=[a-z]+://.*|.+_NAME=/.+/.+");

  private DoubtfulSettings() {}

  /** Returns the warnings about the variables and the memory of this process. */
  static List<String> warnings() {
    List<String> warnings = new ArrayList<>(unused(System.getenv(), LegibleSettings.declared()));
    HotSpotDiagnosticMXBean machine =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long heap = Long.parseLong(machine.getVMOption("MaxHeapSize").getValue()) >> 20;
    if (heap < MIN_HEAP_MEGABYTES) {
      String demand = " MB, but should be at least " + MIN_HEAP_MEGABYTES + " MB";
      warnings.add("the maximum heap (-Xmx) is " + heap + demand);
    }
    return warnings;
  }

  /**
   * Returns a warning for each variable that is not a setting but is almost spelled like one, or
   * begins with the same word as one.
   */
  static List<String> unused(Map<String, String> environment, Collection<String> settings) {
    return new TreeMap<>(environment)
        .entrySet().stream()
            .filter(each -> !settings.contains(each.getKey()))
            .filter(each -> !OF_OTHERS.matcher(each.toString()).matches())
            .map(Map.Entry::getKey)
            .filter(variable -> settings.stream().anyMatch(each -> isSimilar(variable, each)))
            .map(variable ->
                (variable + " has no effect, because there is no setting of this name; ")
                    + Spelling.remedy(variable, settings))
            .toList();
  }

  private static boolean isSimilar(String variable, String setting) {
    String firstWord = setting.replaceFirst("_.*|$", "_");
    return Spelling.isSlip(variable, setting)
        || variable.toUpperCase(Locale.ROOT).replaceAll("[.-]", "_").startsWith(firstWord);
  }
}
