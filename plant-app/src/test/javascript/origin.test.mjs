// Pages of other origins: BASE is the service's address, TOKEN a valid token, CHROMIUM the browser.
// The service allows ORIGIN, at whose port this test serves a page for every host name.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const { BASE, TOKEN, CHROMIUM, ORIGIN } = process.env;

let browser;
const pages = createServer((request, response) => response.setHeader("Content-Type", "text/html").end("a page"));

before(async () => {
  await new Promise((listening) => pages.listen(new URL(ORIGIN).port, "127.0.0.1", listening));
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.example 127.0.0.1"],
  });
});
after(async () => {
  await browser.close();
  pages.close();
});

/** Sends creates from a page of an origin, and answers what the page could read of each answer. */
async function creates(origin, ...creates) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${origin}/`);
  return page.evaluate(
    ([base, all]) =>
      Promise.all(
        all.map(async ({ token, body }) => {
          const headers = { "Content-Type": "application/json" };
          if (token) {
            headers.Authorization = `Bearer ${token}`;
          }
          try {
            const answer = await fetch(`${base}/plants`, { method: "POST", headers, body });
            const names = ["X-Request-Id", "Retry-After", "Link", "WWW-Authenticate"];
            return [answer.status, await answer.json(), names.filter((name) => answer.headers.has(name))];
          } catch (failure) {
            return failure.message;
          }
        }),
      ),
    [BASE, creates],
  );
}

test("a page of an allowed origin creates plants and reads errors", async () => {
  const [created, noToken, noPlant] = await creates(
    ORIGIN,
    { token: TOKEN, body: '{"id":611,"name":"fern"}' },
    { body: '{"id":611,"name":"fern"}' },
    { token: TOKEN, body: "{}" },
  );
  assert.deepEqual(created, [200, { name: "fern" }, ["X-Request-Id"]]);
  assert.deepEqual([noToken[0], noToken[1].error], [401, 4001]);
  assert.deepEqual(noToken[2], ["X-Request-Id", "Link", "WWW-Authenticate"]);
  assert.deepEqual([noPlant[0], noPlant[1].error], [400, 2001]);
});

test("a page of another origin learns nothing, and creates nothing", async () => {
  const other = ORIGIN.replace("app.", "other.");
  const answers = await creates(other, { token: TOKEN, body: '{"id":612,"name":"fern"}' });
  assert.deepEqual(answers, ["Failed to fetch"]);
  const [created] = await creates(ORIGIN, { token: TOKEN, body: '{"id":612,"name":"moss"}' });
  assert.equal(created[0], 200);
});
