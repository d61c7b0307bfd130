// The page, as a person uses it: BASE is the service's address, TOKEN a valid token, CHROMIUM the
// browser, SCREENSHOTS a folder for what was seen.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { chromium } from "playwright-core";

const { BASE, TOKEN, CHROMIUM, SCREENSHOTS } = process.env;
const TIMEOUT_MILLISECONDS = 20_000;

let browser, page, complaints, hosts;

before(async () => {
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
  });
});
after(() => browser.close());
beforeEach(() => open());
afterEach(() => page.context().close());

async function open(options = {}) {
  if (page) {
    await page.context().close();
  }
  page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(TIMEOUT_MILLISECONDS);
  complaints = [];
  hosts = new Set();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => hosts.add(new URL(request.url()).origin));
  page.on("console", (message) => {
    // That an answer was no 200 is on the page as well.
    if (message.type() === "error" && !message.text().includes("the server responded with")) {
      complaints.push(message.text());
    }
  });
}

async function authorize(token) {
  await page.getByRole("button", { name: "Authorize", exact: true }).click();
  await page.locator(".modal-ux input").fill(token);
  await page.locator(".modal-ux button[type=submit]").click();
  await page.locator(".modal-ux").getByRole("button", { name: "Close" }).last().click();
}

/** Sends a body by the form, and answers what the page shows of the request and the answer. */
async function execute(body) {
  await page.locator("textarea.body-param__text").fill(body);
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url() === `${BASE}/plants`),
    page.getByRole("button", { name: "Execute" }).click(),
  ]);
  const live = page.locator(".live-responses-table");
  await live.locator(".response-col_status", { hasText: String(answer.status()) }).waitFor();
  return {
    sent: answer.request().postData(),
    command: await page.locator(".curl-command").innerText(),
    status: (await live.locator("tbody .response-col_status").innerText()).trim(),
    shown: await live.innerText(),
  };
}

function assertQuiet() {
  assert.deepEqual(complaints, []);
  assert.deepEqual([...hosts], [BASE]);
}

test("a plant is created by the form, and a taken id is refused", async () => {
  await page.goto(BASE);
  await authorize(TOKEN);

  const created = await execute('{"id":201,"name":"fern","tag":"shade"}');
  assert.equal(created.status, "200");
  assert.match(created.shown, /"name": "fern",\s+"tag": "shade"/);
  await page.screenshot({ path: `${SCREENSHOTS}/created.png`, fullPage: true });

  const refused = await execute('{"id":201,"name":"moss"}');
  assert.equal(refused.status, "400");
  assert.match(refused.shown, /"error": 3001,/);
  assert.match(refused.shown, /link: <errors#3001>; rel="help"/);
  await page.screenshot({ path: `${SCREENSHOTS}/refused.png`, fullPage: true });
  assertQuiet();
});

test("ids near 2^63 are shown and sent exactly", async () => {
  await page.goto(BASE);
  await authorize(TOKEN);
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

test("without a token the page says 401", async () => {
  await page.goto(BASE);
  const { status, shown } = await execute('{"id":202,"name":"fern"}');
  assert.equal(status, "401");
  assert.match(shown, /"error": 4001,/);
});

test("a token in the address is filled in and taken out of it", async () => {
  await page.goto(`${BASE}/#token=${TOKEN}`);
  await page.locator(".authorize.locked").first().waitFor();
  assert.equal(page.url(), `${BASE}/`);
  assert.equal((await execute('{"id":203,"name":"fern"}')).status, "200");
  assertQuiet();
});

test("an error's number leads to its cause and cure", async () => {
  await page.goto(BASE);
  const link = page.getByRole("link", { name: "3001" });
  const [opened] = await Promise.all([
    page.waitForEvent("popup", { timeout: 1_000 }).catch(() => page),
    link.click(),
  ]);
  await opened.waitForURL(`${BASE}/errors#3001`);
  await opened.getByText("Another plant was created with this id before").waitFor();
  await opened.screenshot({ path: `${SCREENSHOTS}/catalogue.png` });
  assertQuiet();
});

for (const colorScheme of ["light", "dark"]) {
  test(`the page is readable on a phone, ${colorScheme}`, async () => {
    await open({ colorScheme, viewport: { width: 390, height: 844 }, isMobile: true });
    await page.goto(BASE);
    await page.locator(".opblock").waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}/phone-${colorScheme}.png`, fullPage: true });

    const { overflow, faint, read } = await page.evaluate(() => {
      const luminance = (color) => {
        const [red, green, blue] = color.match(/[\d.]+/g).map((value) => {
          const share = value / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const background = (element) => {
        const color = getComputedStyle(element).backgroundColor;
        return color.endsWith(", 0)") || /, 0\.\d+\)$/.test(color)
          ? background(element.parentElement)
          : color;
      };
      const contrast = (element) => {
        const both = [luminance(getComputedStyle(element).color), luminance(background(element))];
        return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
      };
      const texts = [...document.querySelectorAll("#page *")].filter(
        (element) =>
          element.offsetParent !== null &&
          [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()),
      );
      return {
        overflow: document.documentElement.scrollWidth - innerWidth,
        faint: texts
          .filter((element) => contrast(element) < 4.5)
          .map((element) => `${element.className}: ${element.innerText.slice(0, 40)}`),
        read: texts.length,
      };
    });
    assert(read > 50, "there is text");
    assert(overflow <= 0, `${overflow} pixels beyond the screen`);
    assert.deepEqual(faint, []);
  });
}
