package org.plantstore.adapter.http.connection;

import org.junit.jupiter.api.Tag;

@Tag("slow")
@Tag("newest")
class BrokenHttpOverTlsTest extends BrokenHttpTest implements OverTls {}
