package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Layout;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.io.PrintStream;
import java.time.Duration;

/**
 * Writes the log to standard output. Never blocks a caller, even if standard output is a pipe that
 * is not read: lines are dropped when too many are pending, and counted in a later line. Lines of
 * some milliseconds are one write, which saves a system call and wake-ups for each. Safe for use by
 * many threads.
 */
public final class LogWriter extends UnsynchronizedAppenderBase<ILoggingEvent> {

  /** The number of characters above which also warnings and errors are dropped. */
  private static final int MAX_PENDING = 2_000_000;

  /** The number of characters above which other lines are dropped. */
  private static final int MAX_PENDING_INFO = 1_750_000;

  private static final Duration PAUSE = Duration.ofMillis(10);
  private static final Duration MAX_FLUSH_TIME = Duration.ofSeconds(10);

  private final PrintStream output;
  private final Thread thread = new Thread(this::writeUntilStopped, "log");
  private StringBuilder pending = new StringBuilder();
  private long dropped;
  private Layout<ILoggingEvent> layout = new JsonLines();

  /** Creates a log on standard output. */
  public LogWriter() {
    this(System.out);
  }

  LogWriter(PrintStream output) {
    this.output = output;
  }

  /** Sets the form of the lines; the configuration does it before the start. */
  public void setLayout(Layout<ILoggingEvent> layout) {
    this.layout = layout;
  }

  @Override
  public void start() {
    super.start();
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  protected void append(ILoggingEvent event) {
    String line = layout.doLayout(event);
    boolean isInfo = !event.getLevel().isGreaterOrEqual(Level.WARN);
    synchronized (this) {
      if (pending.length() > (isInfo ? MAX_PENDING_INFO : MAX_PENDING)) {
        dropped++;
        return;
      }
      if (pending.isEmpty()) {
        notifyAll();
      }
      pending.append(line);
    }
  }

  private void writeUntilStopped() {
    try {
      while (awaitLine()) {
        Thread.sleep(PAUSE.toMillis()); // more lines come
        write();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // whatever has started the service in its process ends it
    }
  }

  private void write() {
    try {
      output.writeBytes(take().toString().getBytes(UTF_8));
      output.flush();
    } catch (Throwable e) {
      // Such as exhausted memory: costs these lines, but not the log.
    }
  }

  /** Waits for a line; returns false if this appender is stopped and there is none. */
  private synchronized boolean awaitLine() throws InterruptedException {
    while (pending.isEmpty() && isStarted()) {
      wait();
    }
    return !pending.isEmpty();
  }

  private synchronized StringBuilder take() {
    if (dropped > 0) {
      pending.append(layout.doLayout(warning(dropped)));
      dropped = 0;
    }
    StringBuilder lines = pending;
    pending = new StringBuilder();
    return lines;
  }

  private ILoggingEvent warning(long lines) {
    return new LoggingEvent(
        LogWriter.class.getName(),
        ((LoggerContext) getContext()).getLogger(LogWriter.class),
        Level.WARN,
        "Lines were dropped, because standard output was not read: {}",
        null,
        new Object[] {lines});
  }

  /** Writes the pending lines, if they are read in time. */
  @Override
  public void stop() {
    super.stop();
    synchronized (this) {
      notifyAll();
    }
    try {
      thread.join(MAX_FLUSH_TIME.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
