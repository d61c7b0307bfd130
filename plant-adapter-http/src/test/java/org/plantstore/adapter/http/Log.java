package org.plantstore.adapter.http;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.LoggerFactory;

/** Collects the lines of a logger during a test. */
public final class Log extends AppenderBase<ILoggingEvent> implements AutoCloseable {

  private final List<ILoggingEvent> lines = new CopyOnWriteArrayList<>();
  private final Logger logger;
  private final Level levelBefore;

  public Log(String name) {
    logger = (Logger) LoggerFactory.getLogger(name);
    levelBefore = logger.getLevel();
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    logger.addAppender(this);
    start();
  }

  @Override
  protected void append(ILoggingEvent line) {
    line.prepareForDeferredProcessing();
    lines.add(line);
  }

  /** Waits until there are at least this many lines, and returns all lines. */
  public List<ILoggingEvent> await(int number) {
    while (lines.size() < number) {
      LockSupport.parkNanos(5_000_000);
    }
    return lines;
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    logger.setLevel(levelBefore);
    logger.setAdditive(true);
  }
}
