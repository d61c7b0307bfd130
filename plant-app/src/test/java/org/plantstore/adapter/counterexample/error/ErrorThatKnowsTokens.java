package org.plantstore.adapter.counterexample.error;

import org.plantstore.adapter.counterexample.token.Token;

/** A violation that {@link ArchitectureTest} must find: a room depends on another one. */
public record ErrorThatKnowsTokens(Token token) {}
