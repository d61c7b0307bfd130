package org.plantstore.adapter.persistence.database;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/**
 * Evicts connections to a read-only server from the pool: after a fail-over the address leads to
 * the new primary, but old connections lead to a standby.
 */
final class ReadOnlyEviction implements SQLExceptionOverride {

  @java.lang.Override
  public SQLExceptionOverride.Override adjudicate(SQLException failure) {
    return PostgresFailure.READ_ONLY.equals(failure.getSQLState())
        ? SQLExceptionOverride.Override.MUST_EVICT
        : SQLExceptionOverride.Override.CONTINUE_EVICT;
  }
}
