// Drives one browser over the built site and prints what works as JSON. usage: node smoke.mjs chrome|firefox PATH ADDRESS PAGE…
// A line "offline?" on stdout asks for the host to be stopped; the next line on stdin says that it is.
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [kind, executablePath, site, ...pages] = process.argv.slice(2);
const PATIENCE_MS = 40_000;
const browser = await puppeteer.launch({
  browser: kind,
  executablePath,
  headless: true,
  args: kind === "chrome" ? (process.env.CHROMIUM_FLAGS ?? "").split(" ") : [],
});
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 800 });

const wrong = [];
page.on("pageerror", (error) => wrong.push(`${page.url()}: ${error.message}`));
page.on("console", (message) => {
  if (["error", "warn"].includes(message.type())) wrong.push(`${page.url()}: ${message.text()}`);
});
await page.evaluateOnNewDocument(() => {
  window.violations = [];
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
    window.violations.push(`${violatedDirective} ${blockedURI}`);
  });
});

/** Wait until a function of the page is true; it is asked from outside, since the policy forbids text that is run. */
async function until(what, ask, ...given) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
    if (await page.evaluate(ask, ...given)) return;
  }
  throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s at ${page.url()}`);
}

const hasStarted = () => "document$" in window && Boolean(document.querySelector(".md-search__input"));

async function open(path) {
  await page.goto(site + path);
  await until("the theme has started", hasStarted);
  const violations = await page.evaluate(() => window.violations);
  wrong.push(...violations.map((one) => `${path}: ${one}`));
}

async function typeInto(selector, text) {
  await page.click(selector, { count: 3 });
  await page.keyboard.type(text);
}

const isAnswered = (value) => {
  const widget = document.querySelector("#memory_cliff");
  return widget.answered && location.hash.includes(`batch:${value}`);
};

async function widgetAnswers(value) {
  const before = await page.evaluate(() => document.querySelector("#memory_cliff .widget-results").textContent);
  await typeInto("#memory_cliff-batch", value);
  await until("the widget answers", isAnswered, value);
  await until("the answer is another", (old) => {
    return document.querySelector("#memory_cliff .widget-results").textContent !== old;
  }, before);
}

const checks = {
  "Each kind of page opens without an error, a warning or a violation of its policy": async () => {
    for (const path of pages) await open(path);
  },
  "A widget answers a change, from Python's quick start": async () => {
    await open("explore/kv-cache/");
    await widgetAnswers("53");
  },
  "The next page is shown without a load, and back leads to what was set": async () => {
    await page.evaluate(() => void performance.mark("kept"));
    await page.focus(".md-tabs__link"); // the header moves while the page scrolls: a pointer would miss it
    await page.keyboard.press("Enter");
    await until("the home page", () => document.querySelector("#how_many_fit") !== null);
    await page.goBack({ waitUntil: [] }).catch(() => {}); // within the document there is no load to wait for
    await until("back", () => document.querySelector("#memory_cliff-batch")?.value === "53");
    if ((await page.evaluate(() => performance.getEntriesByName("kept").length)) !== 1) throw new Error("a load");
  },
  "A code cell runs": async () => {
    await open("lessons/kv-cache/");
    await until("the cell has come to life", () => !document.querySelector("#cell-kv_cache_size [data-does=run]")?.disabled);
    await page.click("#cell-kv_cache_size [data-does=run]");
    await until("it has finished", () => {
      return document.querySelector("#cell-kv_cache_size .cell-status").textContent.startsWith("Finished");
    });
  },
  "Search finds a term": async () => {
    await page.click(".md-search__input");
    await page.keyboard.type("roofline");
    await until("a result", () => document.querySelector(".md-search-result__item a")?.href.includes("glossary"));
    await page.keyboard.press("Escape");
  },
  "Dark colours are kept over a reload": async () => {
    await open("");
    for (const next of ["Switch to light", "Switch to dark"]) await page.click(`label[title*="${next}"]`);
    const isDark = () => document.body.dataset.mdColorScheme === "slate";
    await until("dark", isDark);
    await open("");
    if (!(await page.evaluate(isDark))) throw new Error("light again");
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    if (ground !== "rgb(30, 33, 41)") throw new Error(`the page is ${ground}`);
  },
  "The whole site is kept at the press of a button, and its pages and widgets work without network": async () => {
    await open("about/offline/");
    await page.click("[data-does=keep]");
    await until("kept", () => document.querySelector("offline-copy").dataset.state === "kept");
    const lines = createInterface({ input: process.stdin });
    console.log("offline?");
    await new Promise((stopped) => lines.once("line", stopped));
    lines.close();
    await open("explore/kv-cache/");
    await widgetAnswers("29");
  },
};

const done = [];
for (const [name, check] of Object.entries(checks)) {
  const began = Date.now();
  try {
    await check();
  } catch (error) {
    wrong.push(String(error.message));
  }
  done.push({ name, wrong: wrong.splice(0), milliseconds: Date.now() - began });
}
console.log(JSON.stringify({ browser: await browser.version(), done }));
await browser.close();
