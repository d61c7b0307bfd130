package org.plantstore.adapter.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.plantstore.domain.NewPlant;

/** How long a body takes to be read. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class NewPlantJsonBenchmark {

  /** Bodies that differ in what they make the reader do. */
  public enum Body {
    /** No more than a plant needs. */
    SMALL("{\"id\":4611686018427387904,\"name\":\"fern\"}"),

    /** A tag, and members that the reader has to skip. */
    UNKNOWN_MEMBERS(
        """
        {
          "id": 4611686018427387904,
          "name": "Monstera deliciosa",
          "tag": "tropical",
          "origin": {"country": "Panama", "altitudes": [0, 1500]},
          "watered": true
        }
        """),

    /** A name of 100 KB. */
    LONG_NAME("{\"id\":4611686018427387904,\"name\":\"" + "x".repeat(100_000) + "\"}");

    private final String text;

    Body(String text) {
      this.text = text;
    }
  }

  /** What is read. */
  @Param public Body body = Body.SMALL;

  private byte[] bytes = {};

  /** Makes of it what arrives. */
  @Setup
  public void encode() {
    bytes = body.text.getBytes(UTF_8);
  }

  /** Reads the body. */
  @Benchmark
  public NewPlant read() {
    return NewPlantJson.read(bytes);
  }
}
