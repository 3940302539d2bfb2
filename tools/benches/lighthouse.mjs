// @ts-check
/**
 * usage: node tools/benches/lighthouse.mjs RUNS CATEGORIES ADDRESS...
 * Runs Lighthouse (mobile) RUNS times on each address, in turn, and prints one line of JSON for all:
 * {ADDRESS: {CATEGORY: [score, ...], METRIC: [value, ...], failed: [audit, ...]}}.
 * Without performance among the categories, nothing is slowed down. CHROMIUM names the browser, CHROMIUM_FLAGS how it starts.
 */
import lighthouse from "lighthouse";
import puppeteer from "puppeteer-core";

const [runs = "1", categories = "", ...addresses] = process.argv.slice(2);
const { CHROMIUM: executablePath, CHROMIUM_FLAGS = "" } = process.env;
const onlyCategories = categories.split(",");
const throttlingMethod = onlyCategories.includes("performance") ? "simulate" : "provided";
const METRICS = ["first-contentful-paint", "largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift"];
const args = CHROMIUM_FLAGS.split(" ");

/** @type {Record<string, Record<string, any[]>>} */
const found = {};

/** @param {string} address */
async function once(address) {
  const browser = await puppeteer.launch({ executablePath, headless: true, args }); // cold each time
  try {
    const port = Number(new URL(browser.wsEndpoint()).port);
    const result = await lighthouse(address, { port, onlyCategories, throttlingMethod, logLevel: "error" });
    if (!result) throw new Error(`${address}: Lighthouse found nothing`);
    const { lhr } = result;
    if (lhr.runtimeError) throw new Error(`${address}: ${lhr.runtimeError.message}`);
    const one = (found[address] ??= {});
    /** @param {string} name @param {any} value */
    const keep = (name, value) => (one[name] ??= []).push(value);
    for (const [name, { score }] of Object.entries(lhr.categories)) keep(name, score);
    for (const name of METRICS) if (lhr.audits[name]) keep(name, lhr.audits[name].numericValue);
    for (const [name, { auditRefs }] of Object.entries(lhr.categories)) {
      if (name === "performance") continue; // its audits are never all perfect
      for (const { id, weight } of auditRefs) if (weight > 0 && (lhr.audits[id]?.score ?? 1) < 1) keep("failed", id);
    }
  } finally {
    await browser.close();
  }
}

for (let run = 0; run < Number(runs); run++) for (const address of addresses) await once(address);
console.log(JSON.stringify(found));
