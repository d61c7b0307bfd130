"use strict";

// A token in the address (#token=…) is filled in, and taken out of the address: it is not to be
// shared, kept in the history or sent anywhere but with the requests of this page.
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) {
    history.replaceState(null, "", location.pathname + location.search);
    ui.preauthorizeApiKey("bearerAuth", token);
  }
}

function followColorScheme(dark) {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", followColorScheme);
followColorScheme(dark);

const ui = SwaggerUIBundle({
  dom_id: "#page",
  url: "openapi.yaml",
  docExpansion: "full",
  tryItOutEnabled: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: "monokai" }, // the default has a faint red on grey
  validatorUrl: null, // another host would be told the address of this one
  onComplete: takeToken,
});

addEventListener("hashchange", takeToken);
