package org.plantstore.adapter.http;

import java.util.EnumMap;
import java.util.Map;
import org.plantstore.adapter.http.error.ErrorNumber;
import org.plantstore.adapter.http.error.RefusedException;
import org.plantstore.domain.InvalidPlantException;

/** The problems of a plant's fields, in the order id, name, tag. Used by one thread. */
final class InvalidFields {

  private final Map<ErrorNumber, String> problems = new EnumMap<>(ErrorNumber.class);

  void put(ErrorNumber field, String problem) {
    problems.put(field, problem);
  }

  /** Adds the violations of the domain's rules, or of a store's own. */
  void add(InvalidPlantException invalid) {
    for (InvalidPlantException.Violation violation : invalid.violations()) {
      ErrorNumber field =
          switch (violation.field()) {
            case "id" -> ErrorNumber.ID;
            case "tag" -> ErrorNumber.TAG;
            default -> ErrorNumber.NAME;
          };
      problems.put(field, violation.toString());
    }
  }

  boolean isEmpty() {
    return problems.isEmpty();
  }

  /** Returns the refusal, which names all fields and has the number of the first. */
  RefusedException refusal(String hint) {
    ErrorNumber first = problems.keySet().iterator().next();
    String sentence = String.join("; ", problems.values());
    return new RefusedException(first, (sentence.endsWith(".") ? sentence : sentence + ".") + hint);
  }
}
