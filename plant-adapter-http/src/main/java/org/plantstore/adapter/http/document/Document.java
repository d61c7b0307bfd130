package org.plantstore.adapter.http.document;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.GZIPOutputStream;

/**
 * A text that is served to everyone. It is compressed once, and all its readers share one buffer:
 * neither many requests nor readers that do not read cost the service more than a connection does.
 * Safe for use by many threads.
 */
final class Document {

  /** Scripts and styles of this service alone; images may also be in the styles themselves. */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final MediaType type;
  private final ByteBuf plain;
  private final ByteBuf compressed;
  private final String tag;

  Document(MediaType type, byte[] content) {
    this.type = type;
    this.plain = shared(content);
    this.compressed = shared(compress(content));
    CRC32C checksum = new CRC32C();
    checksum.update(content);
    this.tag = "\"" + HexFormat.of().toHexDigits((int) checksum.getValue()) + "\"";
  }

  /** Returns the document in a form that the request accepts, or that its client has it already. */
  HttpResponse<ByteBuf> answer(HttpRequest<?> request) {
    return (isKnownTo(request) ? HttpResponse.<ByteBuf>notModified() : whole(request))
        // Weak (RFC 9110, section 8.8.1): both forms have the same one.
        .header(HttpHeaders.ETAG, "W/" + tag)
        .header(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING)
        // Asked for again each time, so that nobody reads the document of an earlier version.
        .header(HttpHeaders.CACHE_CONTROL, "no-cache")
        .header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        .header("Referrer-Policy", "no-referrer")
        .header("X-Content-Type-Options", "nosniff");
  }

  private MutableHttpResponse<ByteBuf> whole(HttpRequest<?> request) {
    // A client that weighs the codings gets the plain form, which hardly any refuses.
    boolean isCompressed =
        elements(request, HttpHeaders.ACCEPT_ENCODING).anyMatch("gzip"::equalsIgnoreCase);
    ByteBuf form = (isCompressed ? compressed : plain).duplicate();
    MutableHttpResponse<ByteBuf> response =
        HttpResponse.ok(form)
            .contentType(type)
            // For HEAD, too, whose answer has no body to count.
            .contentLength(form.readableBytes());
    return isCompressed ? response.header(HttpHeaders.CONTENT_ENCODING, "gzip") : response;
  }

  /** Returns whether the client has the document, by the weak comparison of RFC 9110, 13.1.2. */
  private boolean isKnownTo(HttpRequest<?> request) {
    return elements(request, HttpHeaders.IF_NONE_MATCH)
        .anyMatch(known -> known.equals("*") || known.replaceFirst("^W/", "").equals(tag));
  }

  private static Stream<String> elements(HttpRequest<?> request, String header) {
    return request.getHeaders().getAll(header).stream()
        .flatMap(list -> Arrays.stream(list.split(",")))
        .map(String::strip);
  }

  /** Not on the heap, because a connection would copy it from there for every answer that waits. */
  private static ByteBuf shared(byte[] content) {
    ByteBuf buffer = Unpooled.directBuffer(content.length, content.length).writeBytes(content);
    return Unpooled.unreleasableBuffer(buffer.asReadOnly());
  }

  private static byte[] compress(byte[] content) {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
      gzip.write(content);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory cannot fail", e);
    }
    return compressed.toByteArray();
  }
}
