"use strict";

// Moves a token from the address (#token=…) to the form, so that the token is not shared with the
// address, does not remain in the history, and is sent only with the requests of this page. Session
// storage belongs to this tab: the token survives a reload, other tabs cannot read it, and the
// browser deletes it when the tab is closed.
const STORAGE_KEY = "plant-store.token";
let token = "";
let complete = false;

try {
  token = sessionStorage.getItem(STORAGE_KEY) ?? "";
} catch {
  // If the browser forbids storage, the token is lost when the page is reloaded.
}

function keep(found) {
  token = found;
  try {
    sessionStorage.setItem(STORAGE_KEY, token);
  } catch {
    // If the browser forbids storage, the token is lost when the page is reloaded.
  }
}

function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found !== null) {
    history.replaceState(null, "", location.pathname + location.search);
    keep(found);
    fillIn();
  }
}

function fillIn() {
  if (complete && token !== "") {
    ui.preauthorizeApiKey("bearerAuth", token);
  }
}

// Stores a token that the user enters in the form, and deletes it when the user logs out.
const auth = {
  authorize: (authorize) => (schemes) => {
    keep(schemes.bearerAuth?.value ?? "");
    return authorize(schemes);
  },
  logout: (logout) => (names) => {
    keep("");
    return logout(names);
  },
};

// Adds what swagger-ui lacks for users of screen readers: names, roles, and consecutive heading levels.
const LABELS = [
  ["#servers", "Server"],
  [".body-param__text", "Request body"],
  [".opblock-description-wrapper .examples-select-element", "Example of a request body"],
  [".responses-table .examples-select-element", "Example of a response"],
  [".information-container", "About this interface", "region"],
  [".scheme-container", "Server and authorization", "region"],
  [".modal-ux", "Available authorizations", "dialog"],
  [".close-modal", "Close"],
  [".modal-btn[aria-label='Remove authorization']", "Logout: remove authorization"],
];
const LEVELS = [["h3", 2], ["h4", 3], ["h5", 4], ["h6", 4]];

function describe() {
  for (const [selector, label, role] of LABELS) {
    for (const element of document.querySelectorAll(`#page ${selector}`)) {
      element.setAttribute("aria-label", label);
      if (role) element.setAttribute("role", role);
    }
  }
  for (const [name, level] of LEVELS) {
    for (const heading of document.querySelectorAll(`#page ${name}`)) {
      heading.setAttribute("aria-level", level);
    }
  }
}

new MutationObserver(describe).observe(document.getElementById("page"), {
  childList: true,
  subtree: true,
});

function followColorScheme(dark) {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", followColorScheme);
followColorScheme(dark);

// Offers only the server of this page. Its relative address is also correct behind a proxy that
// serves the page under another path.
const updateJsonSpec = (update) => (document) =>
  update({ ...document, servers: document.servers.filter(({ url }) => url === ".") });

const ui = SwaggerUIBundle({
  dom_id: "#page",
  url: "openapi.yaml",
  plugins: [
    { statePlugins: { spec: { wrapActions: { updateJsonSpec } }, auth: { wrapActions: auth } } },
  ],
  docExpansion: "full",
  tryItOutEnabled: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: "monokai" }, // the default theme has faint red text on gray
  validatorUrl: null, // a validator would send the address of this service to another host
  onComplete: () => {
    complete = true;
    fillIn();
  },
});

addEventListener("hashchange", takeToken);
takeToken();
