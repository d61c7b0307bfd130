package org.plantstore.app;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Settings with which the service can start, but which probably do not do what is expected. */
final class DoubtfulSettings {

  private static final long MIN_HEAP_MEGABYTES = 128;

  /** Variables that other programs hardly have. Names such as {@code LOG_FILE} are common. */
  private static final Pattern FAMILIES =
      Pattern.compile("(?i)((JWT|TLS|DATABASE|CORS|MANAGEMENT)|MAX[_.-][^_.-]+)[_.-].*");

  /** The least number of letters of a name that is compared; {@code POST} is close to a setting. */
  private static final int MIN_LETTERS = 6;

  /**
   * Variables, with their values, that look like settings but that others set: Kubernetes and
   * Docker for a service or a linked container, such as {@code DATABASE_PORT_5432_TCP_ADDR}; and
   * hosting providers for further addresses of a database.
   */
  private static final Pattern OF_OTHERS =
      Pattern.compile(
          "(?is)(.+_SERVICE_(HOST|PORT)(_.+)?|.+_PORT_\\d+_(TCP|UDP|SCTP)(_.+)?|.+_ENV_.+"
              + "|DATABASE_(PORT|[A-Z_]+_URL|URL_UNPOOLED))=.*"
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

  /** Returns a warning for each variable that is no setting but close to one, or in a family. */
  static List<String> unused(Map<String, String> environment, Collection<String> declared) {
    Set<String> settings = new TreeSet<>(declared);
    settings.addAll(LegibleSettings.OF_START_SCRIPT);
    return new TreeMap<>(environment)
        .entrySet().stream()
            .filter(each -> !settings.contains(each.getKey()))
            .filter(each -> !OF_OTHERS.matcher(each.toString()).matches())
            .map(Map.Entry::getKey)
            .filter(variable -> isDoubtful(variable, settings))
            .map(variable ->
                (variable + " has no effect, because there is no setting of this name; ")
                    + Spelling.remedy(variable, settings))
            .toList();
  }

  private static boolean isDoubtful(String variable, Set<String> settings) {
    return FAMILIES.matcher(variable).matches()
        || (Spelling.letters(variable).length() >= MIN_LETTERS
            && settings.stream().anyMatch(each -> Spelling.isClose(variable, each)));
  }
}
