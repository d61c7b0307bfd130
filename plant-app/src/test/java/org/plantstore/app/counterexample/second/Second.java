package org.plantstore.app.counterexample.second;

import org.jspecify.annotations.Nullable;
import org.plantstore.app.counterexample.first.First;

/** Breaks the architecture, to show that breaking it is noticed: half of a cycle. */
public record Second(@Nullable First first) {}
