package org.plantstore.adapter.counterexample.token;

/** What a room knows that may not. */
public record Token(String text) {}
