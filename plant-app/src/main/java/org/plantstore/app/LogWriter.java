package org.plantstore.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Layout;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.io.PrintStream;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes the log to standard output without ever blocking a caller, even if nothing reads the pipe.
 * When too many lines are pending, further lines are dropped, and a later line states their number.
 * Logback's {@code AsyncAppender} does not count them, and limits events rather than memory. Lines
 * that come within a few milliseconds are written together, which saves system calls. Safe for use
 * by multiple threads.
 */
public final class LogWriter extends UnsynchronizedAppenderBase<ILoggingEvent> {

  /** The number of pending characters from which warnings and errors are dropped too. */
  private static final int MAX_PENDING = 2_000_000;

  /** The number of pending characters from which other lines are dropped. */
  private static final int MAX_PENDING_INFO = 1_750_000;

  private static final long PAUSE_NANOS = 10_000_000;
  private static final int MAX_FLUSH_SECONDS = 10;

  private final PrintStream output;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "log");
        thread.setDaemon(true);
        return thread;
      });
  private Layout<ILoggingEvent> layout = new JsonLines();
  private StringBuilder pending = new StringBuilder();
  private long dropped;

  /** Creates a log on standard output. */
  public LogWriter() {
    this(System.out);
  }

  LogWriter(PrintStream output) {
    this.output = output;
  }

  /** Sets the form of the lines. Logback calls this before it starts the appender. */
  public void setLayout(Layout<ILoggingEvent> layout) {
    this.layout = layout;
  }

  @Override
  protected void append(ILoggingEvent event) {
    String line = layout.doLayout(event);
    boolean isUrgent = event.getLevel().isGreaterOrEqual(Level.WARN);
    synchronized (this) {
      if (pending.length() > (isUrgent ? MAX_PENDING : MAX_PENDING_INFO)) {
        dropped++;
        return;
      }
      if (pending.isEmpty()) {
        writer.execute(this::write);
      }
      pending.append(line);
    }
  }

  private void write() {
    LockSupport.parkNanos(PAUSE_NANOS); // more lines will come
    output.writeBytes(take().toString().getBytes(UTF_8));
    output.flush();
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

  /** Waits until the pending lines have been written, for 10 seconds at most. */
  @Override
  public void stop() {
    super.stop();
    writer.shutdown();
    try {
      writer.awaitTermination(MAX_FLUSH_SECONDS, SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
