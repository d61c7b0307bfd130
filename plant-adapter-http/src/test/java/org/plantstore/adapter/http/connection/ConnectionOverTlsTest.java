package org.plantstore.adapter.http.connection;

class ConnectionOverTlsTest extends ConnectionTest implements OverTls {}
