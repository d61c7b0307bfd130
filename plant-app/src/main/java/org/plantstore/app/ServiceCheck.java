package org.plantstore.app;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import io.micronaut.context.ApplicationContext;
import io.micronaut.context.exceptions.ConfigurationException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.spi.ToolProvider;

/** The part of the command {@code check} that is about ports, logs, the JVM and its memory. */
public final class ServiceCheck implements ToolProvider {

  private static final long MEGABYTE = 1024 * 1024;
  private static final long MIN_HEAP_MEGABYTES = 128;

  /** What code, threads and the buffers of connections take beside the heap. */
  private static final long BESIDE_HEAP_MEGABYTES = 160;

  @Override
  public String name() {
    return Check.NAME;
  }

  /**
   * Writes a line for each finding: to {@code out} if it is as it should be, and otherwise to
   * {@code err}, with what to do.
   *
   * @return 0 if all is as it should be, and otherwise 1
   */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    boolean isUsable = true;
    try (ApplicationContext context = ApplicationContext.builder().args(arguments).build()) {
      ServiceSettings.requireLogSettings(System.getenv());
      ServiceSettings.requireUsable(context.getEnvironment().start());
      out.println("service: the settings can work, and the ports are free");
    } catch (ConfigurationException e) {
      err.println("service: " + e.getMessage());
      isUsable = false;
    }
    out.println("java: " + Runtime.version() + " of " + System.getProperty("java.vendor"));
    return checkMemory(out, err) && isUsable ? 0 : 1;
  }

  private static boolean checkMemory(PrintWriter out, PrintWriter err) {
    // The runtime's own answer leaves a part of the heap out.
    long heap =
        Long.parseLong(
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .getVMOption("MaxHeapSize")
                    .getValue())
            / MEGABYTE;
    // Of the container, if this is one.
    long all =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize()
            / MEGABYTE;
    if (heap < MIN_HEAP_MEGABYTES) {
      err.printf(
          "memory: the heap (-Xmx) must be at least %d MB, but is %d%n", MIN_HEAP_MEGABYTES, heap);
      return false;
    }
    if (heap + BESIDE_HEAP_MEGABYTES > all) {
      err.printf(
          "memory: a heap (-Xmx) of %d MB, and about %d MB beside it, must fit into the %d MB that are here%n",
          heap, BESIDE_HEAP_MEGABYTES, all);
      return false;
    }
    out.printf("memory: a heap of %d MB, of the %d MB that are here%n", heap, all);
    return true;
  }
}
