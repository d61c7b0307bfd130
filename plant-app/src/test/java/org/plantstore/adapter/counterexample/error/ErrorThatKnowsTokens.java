package org.plantstore.adapter.counterexample.error;

import org.plantstore.adapter.counterexample.token.Token;

/** Breaks the architecture, to show that breaking it is noticed: a room knows another one. */
public record ErrorThatKnowsTokens(Token token) {}
