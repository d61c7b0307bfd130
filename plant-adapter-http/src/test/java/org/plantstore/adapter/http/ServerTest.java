package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.micronaut.context.annotation.Property;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.test.context.TestContext;
import io.micronaut.test.context.TestExecutionListener;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.SocketFactory;
import org.plantstore.domain.CreatePlant;
import org.plantstore.domain.NewPlant;
import org.plantstore.domain.Plant;
import org.plantstore.fixture.TestCertificate;

/** The base class of tests of a running server. The server trusts {@link Tokens#SECRET}. */
@ServerTest.TrustsSecret
public abstract class ServerTest {

  public static final String FERN = "{\"id\":1,\"name\":\"fern\"}";

  @Inject protected EmbeddedServer server;
  @Inject protected FakeCreatePlant createPlant;

  /** Sets the secret in subclasses too, because {@link Property} itself is not inherited. */
  @Inherited
  @Retention(RetentionPolicy.RUNTIME)
  @MicronautTest
  @Property(name = "jwt.secret", value = Tokens.SECRET)
  public @interface TrustsSecret {}

  /** Replaces the application behind the port: counts calls, and behaves as each test specifies. */
  @Singleton
  public static final class FakeCreatePlant implements CreatePlant, TestExecutionListener {

    private final AtomicInteger calls = new AtomicInteger();
    private volatile Function<NewPlant, Plant> behavior = NewPlant::plant;

    @Override
    public void beforeTestMethod(TestContext test) {
      behavior = NewPlant::plant;
      calls.set(0);
    }

    public void behave(Function<NewPlant, Plant> newBehavior) {
      behavior = newBehavior;
    }

    public int calls() {
      return calls.get();
    }

    @Override
    public Plant create(NewPlant plant) {
      calls.incrementAndGet();
      return behavior.apply(plant);
    }
  }

  protected final Answer post(String json) {
    return Answer.to(create(json));
  }

  protected final HttpRequest.Builder create(String json) {
    return authenticated("/plants").POST(BodyPublishers.ofString(json));
  }

  protected final HttpRequest.Builder anonymous(String path) {
    return HttpRequest.newBuilder(URI.create(server.getURI() + path));
  }

  protected final HttpRequest.Builder authenticated(String path) {
    return Answer.request(URI.create(server.getURI() + path));
  }

  protected final String send(String requests) throws IOException {
    return send(server, requests);
  }

  /** Opens a connection whose reads time out after a minute. */
  public static Socket connect(EmbeddedServer server) throws IOException {
    boolean isEncrypted = server.getScheme().equals("https");
    SocketFactory sockets =
        isEncrypted ? TestCertificate.TRUST.getSocketFactory() : SocketFactory.getDefault();
    Socket socket = sockets.createSocket(server.getHost(), server.getPort());
    socket.setSoTimeout(60_000);
    return socket;
  }

  public static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(ISO_8859_1));
  }

  /** Returns everything that the server sends until it closes the connection. */
  public static String readAll(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
  }

  /**
   * Returns as many bytes as the expected text has, or fewer if the server closes the connection.
   */
  public static String read(Socket socket, String expected) throws IOException {
    return new String(socket.getInputStream().readNBytes(expected.length()), ISO_8859_1);
  }

  /** Sends requests on one connection, and returns all responses once the server has closed it. */
  public static String send(EmbeddedServer server, String requests) throws IOException {
    try (Socket socket = connect(server)) {
      write(socket, requests);
      return readAll(socket);
    }
  }

  public static String createRequest(String headers) {
    return createRequest(headers, FERN);
  }

  /** Returns a create request with a valid token and additional header lines. */
  public static String createRequest(String headers, String body) {
    return head("POST /plants HTTP/1.1", headers + "Content-Length: " + body.length() + "\r\n")
        + body;
  }

  /**
   * Returns a create request whose first chunk is {@link #FERN}, followed by the rest of the
   * request.
   */
  public static String chunkedRequest(String headers, String rest) {
    return head("POST /plants HTTP/1.1", headers + "Transfer-Encoding: chunked\r\n")
        + String.join("\r\n", Integer.toHexString(FERN.length()), FERN, rest);
  }

  /** Returns the head of a request that has a body, a valid token, and additional header lines. */
  public static String head(String firstLine, String headers) {
    String caller = "\r\nHost: x\r\nAuthorization: Bearer " + Tokens.valid();
    return firstLine + caller + "\r\nContent-Type: application/json\r\n" + headers + "\r\n";
  }

  public static List<Integer> statuses(String answers) {
    return found("HTTP/1\\.1 (\\d{3}) ", answers).map(Integer::valueOf).toList();
  }

  /** Returns the values of one header in several responses, in order. */
  public static List<String> headers(String answers, String name) {
    return found("(?im)^" + name + ": (.*?)\r?$", answers).toList();
  }

  private static Stream<String> found(String pattern, String answers) {
    return Pattern.compile(pattern).matcher(answers).results().map(match -> match.group(1));
  }
}
