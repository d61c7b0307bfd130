package org.plantstore.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What tokens of an identity provider cost, next to those of a secret. */
final class TokensPart implements Part {

  static final String NAME = "tokens";

  private static final Goal NEARLY_AS_MANY = Goal.atLeast(0.95);

  @Override
  public List<Row> measure(Laboratory laboratory)
      throws IOException, InterruptedException, SQLException {
    Keys keys = laboratory.keys();
    try (IdentityProvider provider = IdentityProvider.start(keys.publicKeys());
        Target hs256 = laboratory.startService("HS256");
        Service byKeySet =
            laboratory.installation().start(Map.of("JWT_JWKS_URL", provider.url()), keys.rs256())) {
      Target rs256 = new Target("RS256", byKeySet, keys.rs256());
      Target es256 = new Target("ES256", byKeySet, keys.es256());
      // As often as the other process, which has two kinds of tokens to get used to.
      laboratory.warmUp(hs256, CONNECTIONS, MANY_CONNECTIONS);
      laboratory.warmUp(hs256, CONNECTIONS, MANY_CONNECTIONS);
      laboratory.warmUp(rs256, CONNECTIONS, MANY_CONNECTIONS);
      laboratory.warmUp(es256, CONNECTIONS, MANY_CONNECTIONS);
      List<Double> rs256Ratios = new ArrayList<>();
      List<Double> es256Ratios = new ArrayList<>();
      for (int round = 1; round <= laboratory.options().rounds(); round++) {
        double bySecretPerSecond = perSecond(laboratory, round, hs256);
        rs256Ratios.add(perSecond(laboratory, round, rs256) / bySecretPerSecond);
        es256Ratios.add(perSecond(laboratory, round, es256) / bySecretPerSecond);
      }
      return List.of(
          row("RS256 tokens ÷ HS256", rs256Ratios), row("ES256 tokens ÷ HS256", es256Ratios));
    }
  }

  private static double perSecond(Laboratory laboratory, int round, Target target)
      throws IOException, InterruptedException, SQLException {
    return laboratory.createOnEmptyTable(NAME, round, target, CONNECTIONS).perSecond();
  }

  private static Row row(String what, List<Double> ratios) {
    return Row.measured(what, Unit.RATIO, NEARLY_AS_MANY, new Samples(ratios));
  }
}
