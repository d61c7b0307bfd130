package org.plantstore.adapter.counterexample.token;

/** The type that another room must not depend on. */
public record Token(String text) {}
