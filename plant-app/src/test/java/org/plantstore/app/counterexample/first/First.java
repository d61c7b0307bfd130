package org.plantstore.app.counterexample.first;

import org.plantstore.app.counterexample.second.Second;

/** Breaks the architecture, to show that breaking it is noticed: half of a cycle. */
public record First(Second second) {}
