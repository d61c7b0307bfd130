package org.plantstore.adapter.http;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import java.util.zip.GZIPOutputStream;

/**
 * A text that is served to everyone. Compressed once, because nobody may make the service compress
 * a megabyte for each small request. Immutable.
 */
final class Document {

  /** Scripts and styles of this service alone; images may also be in the styles themselves. */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final MediaType type;
  private final byte[] content;
  private final byte[] compressed;
  private final String tag;

  Document(MediaType type, byte[] content) {
    this.type = type;
    this.content = content.clone();
    this.compressed = compress(content);
    CRC32C checksum = new CRC32C();
    checksum.update(content);
    // Weak (RFC 9110, section 8.8.1): both forms have the same one.
    this.tag = "W/\"" + HexFormat.of().toHexDigits((int) checksum.getValue()) + "\"";
  }

  MutableHttpResponse<byte[]> answer(HttpRequest<?> request) {
    MutableHttpResponse<byte[]> response =
        tag.equals(request.getHeaders().get(HttpHeaders.IF_NONE_MATCH))
            ? HttpResponse.notModified()
            : whole(request);
    return response
        .header(HttpHeaders.ETAG, tag)
        .header(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING)
        // Asked for again each time, so that nobody reads the document of an earlier version.
        .header(HttpHeaders.CACHE_CONTROL, "no-cache")
        .header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        .header("Referrer-Policy", "no-referrer")
        .header("X-Content-Type-Options", "nosniff");
  }

  private MutableHttpResponse<byte[]> whole(HttpRequest<?> request) {
    MutableHttpResponse<byte[]> response =
        acceptsCompressed(request)
            ? HttpResponse.ok(compressed).header(HttpHeaders.CONTENT_ENCODING, "gzip")
            : HttpResponse.ok(content);
    return response.contentType(type);
  }

  /** Every form may be answered to every client, so one that weighs them gets the plain one. */
  private static boolean acceptsCompressed(HttpRequest<?> request) {
    return request.getHeaders().getAll(HttpHeaders.ACCEPT_ENCODING).stream()
        .flatMap(codings -> Arrays.stream(codings.split(",")))
        .anyMatch(coding -> coding.strip().equalsIgnoreCase("gzip"));
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
