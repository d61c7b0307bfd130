package org.plantstore.adapter.http.document;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/**
 * A text that is served to everyone. All its readers share one buffer: neither many requests nor
 * readers that do not read cost the service more than a connection does. Safe for use by many
 * threads.
 */
final class Document {

  /** Scripts and styles of this service alone; images may also be in the styles themselves. */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final MediaType type;
  private final ByteBuf content;
  private final String tag;

  Document(MediaType type, byte[] bytes) {
    this.type = type;
    // Not on the heap, because a connection would copy it from there for every answer that waits.
    this.content =
        Unpooled.unreleasableBuffer(
            Unpooled.directBuffer(bytes.length, bytes.length).writeBytes(bytes).asReadOnly());
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    this.tag = "\"" + HexFormat.of().toHexDigits((int) checksum.getValue()) + "\"";
  }

  /** Returns the document, or that its client has it already. */
  HttpResponse<ByteBuf> answer(HttpRequest<?> request) {
    return (isKnownTo(request) ? HttpResponse.<ByteBuf>notModified() : whole())
        .header(HttpHeaders.ETAG, tag)
        // Asked for again each time, so that nobody reads the document of an earlier version.
        .header(HttpHeaders.CACHE_CONTROL, "no-cache")
        .header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        .header("Referrer-Policy", "no-referrer");
  }

  private MutableHttpResponse<ByteBuf> whole() {
    return HttpResponse.ok(content.duplicate())
        .contentType(type)
        // For HEAD, too, whose answer has no body to count.
        .contentLength(content.readableBytes());
  }

  /** Returns whether the client has the document, by the weak comparison of RFC 9110, 13.1.2. */
  private boolean isKnownTo(HttpRequest<?> request) {
    return request.getHeaders().getAll(HttpHeaders.IF_NONE_MATCH).stream()
        .flatMap(list -> Arrays.stream(list.split(",")))
        .map(String::strip)
        .anyMatch(known -> known.equals("*") || known.replaceFirst("^W/", "").equals(tag));
  }
}
