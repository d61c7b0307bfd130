"use strict";

// Moves a token from the address (#token=…) into the form, so that it is not shared, kept in the
// history or sent anywhere except with the requests of this page.
let token = "";
let complete = false;

function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found !== null) {
    history.replaceState(null, "", location.pathname + location.search);
    token = found;
    fillIn();
  }
}

function fillIn() {
  if (complete && token !== "") {
    ui.preauthorizeApiKey("bearerAuth", token);
  }
}

function followColorScheme(dark) {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", followColorScheme);
followColorScheme(dark);

// Offers only the server of this page, which is right below a path of a proxy, too.
const updateJsonSpec = (update) => (document) =>
  update({ ...document, servers: document.servers.filter(({ url }) => url === ".") });

const ui = SwaggerUIBundle({
  dom_id: "#page",
  url: "openapi.yaml",
  plugins: [{ statePlugins: { spec: { wrapActions: { updateJsonSpec } } } }],
  docExpansion: "full",
  tryItOutEnabled: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: "monokai" }, // the default has a faint red on grey
  validatorUrl: null, // would send the address of this service to another host
  onComplete: () => {
    complete = true;
    fillIn();
  },
});

addEventListener("hashchange", takeToken);
takeToken();
