package org.plantstore.adapter.persistence.database;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/**
 * Has the pool drop a connection that turns out to be read-only: after a fail-over the address
 * leads elsewhere, and old connections to a standby.
 */
final class ReadOnlyIsBroken implements SQLExceptionOverride {

  @java.lang.Override
  public SQLExceptionOverride.Override adjudicate(SQLException failure) {
    return PostgresFailure.READ_ONLY.equals(failure.getSQLState())
        ? SQLExceptionOverride.Override.MUST_EVICT
        : SQLExceptionOverride.Override.CONTINUE_EVICT;
  }
}
