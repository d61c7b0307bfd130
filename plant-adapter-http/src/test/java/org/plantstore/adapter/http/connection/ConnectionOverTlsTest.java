package org.plantstore.adapter.http.connection;

import org.junit.jupiter.api.Tag;

@Tag("newest")
class ConnectionOverTlsTest extends ConnectionTest implements OverTls {}
