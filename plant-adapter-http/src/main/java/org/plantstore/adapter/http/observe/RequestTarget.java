package org.plantstore.adapter.http.observe;

import java.util.regex.Pattern;

/** Reads the target of a request (RFC 9112, section 3.2), which may be no URI at all. */
public final class RequestTarget {

  private static final Pattern BEFORE_PATH = Pattern.compile("^[^/?#]+://[^/?#]*");
  private static final Pattern BEHIND_PATH = Pattern.compile("[?#].*", Pattern.DOTALL);

  private RequestTarget() {}

  public static String pathOf(String target) {
    String withoutOrigin = BEFORE_PATH.matcher(target).replaceFirst("");
    return BEHIND_PATH.matcher(withoutOrigin).replaceFirst("");
  }
}
