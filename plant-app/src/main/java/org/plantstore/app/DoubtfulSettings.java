package org.plantstore.app;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Finds settings that do not prevent startup but are probably not what the operator intended. */
final class DoubtfulSettings {

  private static final long MIN_HEAP_MEGABYTES = 128;

  /**
   * Matches a name with a prefix that other programs rarely use. The prefix {@code LOG_} is not
   * included, because it is too common.
   */
  private static final Pattern OWN_PREFIXES =
      Pattern.compile(
          "(?i)((JWT|TLS|DATABASE|CORS|MANAGEMENT)|MAX[_.-][^_.-]+)[_.-].*"
              + "|(?i)(REQUEST|CREATE|IDLE|DRAIN)[_.-]TIMEOUT.*");

  /**
   * Names with fewer letters than this are not compared with the settings, because short names
   * often resemble a setting by chance.
   */
  private static final int MIN_LETTERS = 6;

  /**
   * Matches {@code NAME=value} for variables that resemble settings but are set by a platform.
   * Kubernetes and Docker set variables such as {@code DATABASE_PORT_5432_TCP_ADDR} for a service
   * or a linked container. Hosting providers set variables such as {@code DATABASE_URL_UNPOOLED}
   * for additional database addresses.
   */
  private static final Pattern SET_BY_PLATFORMS =
      Pattern.compile(
          "(?is)(.+_SERVICE_(HOST|PORT)(_.+)?|.+_PORT_\\d+_(TCP|UDP|SCTP)(_.+)?|.+_ENV_.+"
              + "|DATABASE_(PORT|[A-Z_]+_URL|URL_UNPOOLED))=.*"
              + "|.+_PORT=[a-z]+://.*|.+_NAME=/.+/.+");

  private DoubtfulSettings() {}

  /** Returns warnings about the environment variables and the maximum heap size of this process. */
  static List<String> warnings() {
    List<String> warnings = new ArrayList<>(unused(System.getenv()));
    HotSpotDiagnosticMXBean jvm =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long heap = Long.parseLong(jvm.getVMOption("MaxHeapSize").getValue()) >> 20;
    if (heap < MIN_HEAP_MEGABYTES) {
      warnings.add("the maximum heap (-Xmx) is " + heap + " MB, but should be at least 128 MB");
    }
    return warnings;
  }

  /** Returns a warning for each variable that resembles a setting but has no effect. */
  static List<String> unused(Map<String, String> environment) {
    Set<String> settings = LegibleSettings.all();
    return new TreeMap<>(environment)
        .entrySet().stream()
            .filter(each -> !settings.contains(each.getKey()))
            .filter(each -> !SET_BY_PLATFORMS.matcher(each.toString()).matches())
            .map(Map.Entry::getKey)
            .filter(variable -> isDoubtful(variable, settings))
            .map(variable ->
                (variable + " has no effect, because there is no setting with this name; ")
                    + Spelling.remedy(variable, settings))
            .toList();
  }

  private static boolean isDoubtful(String variable, Set<String> settings) {
    return OWN_PREFIXES.matcher(variable).matches()
        || (Spelling.letters(variable).length() >= MIN_LETTERS
            && settings.stream().anyMatch(each -> Spelling.isClose(variable, each)));
  }
}
