package org.plantstore.adapter.http.token;

import io.micronaut.context.ApplicationContext;
import java.util.Map;

/** Settings of tokens, read as a start reads them. */
final class SettingsOfTokens {

  private SettingsOfTokens() {}

  static TokenValidation validation(Map<String, Object> properties) {
    TokenSettings settings = of(properties);
    return new TokenValidation(settings, new TokenKeys(settings));
  }

  /** Returns the settings with these properties, such as {@code jwt.secret}. */
  static TokenSettings of(Map<String, Object> properties) {
    try (ApplicationContext context = ApplicationContext.builder(properties).build()) {
      return TokenSettings.of(context.getEnvironment().start());
    }
  }
}
