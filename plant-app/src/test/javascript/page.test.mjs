// Uses the console page as a person would. BASE is the service's address, TOKEN is a valid token,
// CHROMIUM is the browser, and SCREENSHOTS is a folder for screenshots.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { BASE, TOKEN, CHROMIUM, SCREENSHOTS } = process.env;
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const TIMEOUT_MILLISECONDS = 60_000;

let browser, page, complaints, hosts;

before(async () => {
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    timeout: TIMEOUT_MILLISECONDS,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
  });
});
after(() => browser.close());

/** Opens a new page. Tests that do not call this continue on the page of the previous test. */
async function open(path = "/", options = {}) {
  await page?.context().close();
  const context = await browser.newContext(options);
  context.setDefaultTimeout(TIMEOUT_MILLISECONDS); // also applies to pages that a page opens
  page = await context.newPage();
  complaints = [];
  hosts = new Set();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => hosts.add(new URL(request.url()).origin));
  page.on("console", (message) => {
    // The page itself shows that a response was not 200.
    if (message.type() === "error" && !message.text().includes("the server responded with")) {
      complaints.push(message.text());
    }
  });
  await page.goto(BASE + path);
}

/** Sends a body with the form and returns what the page shows of the request and the response. */
async function execute(body) {
  await page.locator("textarea.body-param__text").fill(body);
  const [response] = await Promise.all([
    page.waitForResponse((candidate) => candidate.url() === `${BASE}/plants`),
    page.getByRole("button", { name: "Execute" }).click(),
  ]);
  const live = page.locator(".live-responses-table");
  await live.locator(".response-col_status", { hasText: String(response.status()) }).waitFor();
  return {
    sent: response.request().postData(),
    command: await page.locator(".curl-command").innerText(),
    status: (await live.locator("tbody .response-col_status").innerText()).trim(),
    shown: await live.innerText(),
  };
}

function assertNoComplaints() {
  assert.deepEqual(complaints, []);
  assert.deepEqual([...hosts], [BASE]);
}

test("an empty token in the address counts as no token, and a create without a token shows 401", async () => {
  await open("/#token=");
  await page.locator(".authorize.unlocked").first().waitFor();
  assert.equal(page.url(), `${BASE}/`);
  const { status, shown } = await execute('{"id":202,"name":"fern"}');
  assert.equal(status, "401");
  assert.match(shown, /"error": 4001,/);
});

test("an error number links to its cause and remedy", async () => {
  const link = page.getByRole("link", { name: "3001" });
  const [opened] = await Promise.all([page.waitForEvent("popup"), link.click()]);
  await opened.waitForURL(`${BASE}/errors#3001`);
  await opened.getByText("Another plant was created with this id, perhaps").waitFor();
  await opened.screenshot({ path: `${SCREENSHOTS}/errors.png` });
  assertNoComplaints();
});

test("a token that is added to the address while the page is open is filled in", async () => {
  await page.evaluate((token) => (location.hash = `token=${token}`), TOKEN);
  await page.locator(".authorize.locked").first().waitFor();
  assert.equal(page.url(), `${BASE}/`);
});

test("a plant is created with the form, and a taken id is refused", async () => {
  await open();
  await page.getByRole("button", { name: "Authorize", exact: true }).click();
  await page.locator(".modal-ux input").fill(TOKEN);
  await page.locator(".modal-ux button[type=submit]").click();
  await page.locator(".modal-ux").getByRole("button", { name: "Close" }).last().click();

  const created = await execute('{"id":201,"name":"fern","tag":"shade"}');
  assert.equal(created.status, "200");
  assert.match(created.shown, /"name": "fern",\s+"tag": "shade"/);
  await page.screenshot({ path: `${SCREENSHOTS}/created.png`, fullPage: true });

  const refused = await execute('{"id":201,"name":"moss"}');
  assert.equal(refused.status, "400");
  assert.match(refused.shown, /"error": 3001,/);
  assert.match(refused.shown, /link: <errors#3001>; rel="help"/);
  await page.screenshot({ path: `${SCREENSHOTS}/refused.png`, fullPage: true });
  assertNoComplaints();
});

test("ids near 2^63 are shown and sent exactly", async () => {
  for (const id of ["9223372036854775807", "9223372036854775806", "-9223372036854775808"]) {
    const body = `{"id":${id},"name":"oak ${id}"}`;
    const { sent, command, status } = await execute(body);
    assert.equal(sent, body);
    assert(command.includes(body), command);
    assert.equal(status, "200");
  }
  const { shown } = await execute('{"id":9223372036854775807,"name":"another"}');
  assert.match(shown, /id 9223372036854775807 is taken/);
});

test("the page follows the color scheme", async () => {
  const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await page.locator("html.dark-mode").count(), 0);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator("html.dark-mode").waitFor();
  await page.waitForFunction(
    (before) => getComputedStyle(document.body).backgroundColor !== before,
    light,
  );
});

test("a token in the address is filled in and removed from the address", async () => {
  await open(`/#token=${TOKEN}`);
  await page.locator(".authorize.locked").first().waitFor();
  assert.equal(page.url(), `${BASE}/`);
  assert.equal((await execute('{"id":203,"name":"fern"}')).status, "200");
  assertNoComplaints();
});

test("the token survives a reload, is not shared with other tabs, and is deleted by a logout", async () => {
  await page.reload();
  await page.locator(".authorize.locked").first().waitFor();
  assert.equal((await execute('{"id":203,"name":"fern"}')).status, "200");

  const other = await page.context().newPage();
  await other.goto(BASE);
  await other.locator(".authorize.unlocked").first().waitFor();
  await other.close();
  assert.equal(await page.evaluate(() => localStorage.length), 0);

  await page.getByRole("button", { name: "Authorize", exact: true }).click();
  await page.getByRole("button", { name: "Logout" }).click();
  await page.reload();
  await page.locator(".authorize.unlocked").first().waitFor();
});

test("axe reports no violation, and the focus is visible", async () => {
  // Without the content security policy, the axe script and the styles of a screenshot are applied.
  await open(`/#token=${TOKEN}`, { bypassCSP: true });
  await page.locator(".authorize.locked").first().waitFor();
  assert.equal((await execute('{"id":201,"name":"fern","tag":"shade"}')).status, "200");
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await page.locator("textarea.body-param__text").focus();
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press("Tab");
      const unseen = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        const visible = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
        return visible || document.activeElement === document.body ? "" : document.activeElement.outerHTML;
      });
      assert.equal(unseen, "");
    }
    await assertAccessible();
    await page.getByRole("button", { name: "Authorize", exact: true }).click();
    await page.locator(".modal-ux").waitFor();
    await assertAccessible();
    await page.locator(".modal-ux").getByRole("button", { name: "Close" }).last().click();
  }
});

async function assertAccessible() {
  await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate(() => axe.run());
  assert.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    [],
  );
}

test("a screenshot of the console is taken for the documentation", async () => {
  await page.setViewportSize({ width: 900, height: 720 });
  await page.locator(".opblock").screenshot({
    path: `${SCREENSHOTS}/console.png`,
    style: `
      .opblock-body > .opblock-description-wrapper, .parameters-container,
      .opblock-section-request-body .renderedMarkdown, .examples-select, .request-url,
      .responses-table:not(.live-responses-table), .responses-inner > div > h4 { display: none !important }
      .body-param__text { min-height: 0 !important; height: 3.5em !important }`,
  });
});

test("axe reports no violation on the error page", async () => {
  await page.goto(`${BASE}/errors`);
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await assertAccessible();
  }
});

test("a token that is added before the document is loaded is filled in", async () => {
  await open("/errors");
  await page.route("**/openapi.yaml", async (route) => {
    await page.evaluate((token) => (location.hash = `token=${token}`), TOKEN);
    await page.waitForURL(`${BASE}/`);
    await route.continue();
  });
  await page.goto(BASE);
  await page.locator(".authorize.locked").first().waitFor();
});

test("the page sends requests only to its own service, even below a path prefix of a proxy", async () => {
  await page.route("**/garden/**", (route) =>
    route.continue({ url: route.request().url().replace("/garden/", "/") }),
  );
  await page.goto(`${BASE}/garden/#token=${TOKEN}`);
  await page.locator(".authorize.locked").first().waitFor();
  assert.equal(await page.locator(".servers option").count(), 1);
  const { command, status } = await execute('{"id":206,"name":"fern"}');
  assert(command.includes(`'${BASE}/garden/plants'`), command);
  assert.equal(status, "200");
  assertNoComplaints();
});
