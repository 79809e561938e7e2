// What the steps in Chromium share: `run.js` runs them.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { Site } from "./server.js";

export const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "editor-"));
mkdirSync(folder, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

let failed = 0;

/** Only steps whose name has this run, if it is set. */
const only = process.env.ONLY ?? "";

/** Runs a step on a site of its own. */
export async function step(name, run, { content = "", width = 1280, height = 900, colorScheme = "light", expected = [] } = {}) {
  if (!name.includes(only)) return;
  const site = new Site();
  site.post.content = content;
  const origin = await site.listen();
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  const seen = [];
  page.on("pageerror", (error) => seen.push(String(error)));
  page.on("console", (message) => message.type() === "error" && !/Failed to load resource/.test(message.text()) && seen.push(message.text()));
  const open = async (target = page) => {
    await target.goto(`${origin}/wp-admin/post.php?post=12&action=edit`);
    await target.waitForSelector("html[data-editor=ready]");
  };
  try {
    await open();
    await run({ site, page, context, open, origin, text: page.locator(".editor-text"), state: page.locator("#save-state") });
    assert.deepEqual(seen.filter((message) => !expected.some((pattern) => pattern.test(message))), [], "messages of the console");
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}\n${error.stack}`);
    await page.screenshot({ path: join(folder, `failed-${name.replace(/\W+/g, "-")}.png`) }).catch(() => {});
  } finally {
    await context.close();
    site.close();
  }
}

export const paragraph = (text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
export const content = (page) => page.evaluate(() => document.querySelector("#content").value);
export const settled = async (page) => {
  await page.waitForTimeout(350);
  return content(page);
};

/** Pastes data of several types. */
export async function paste(page, data) {
  await page.evaluate((data) => {
    const transfer = new DataTransfer();
    for (const [type, value] of Object.entries(data)) if (type !== "file") transfer.setData(type, value);
    if (data.file) transfer.items.add(new File([Uint8Array.from(atob(data.file), (c) => c.charCodeAt(0))], data.name ?? "picture.png", { type: "image/png" }));
    document.querySelector(".editor-text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
  }, data);
}

export const tableOf = (...rows) => `<!-- wp:table -->\n<figure class="wp-block-table"><table class="has-fixed-layout"><tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody></table></figure>\n<!-- /wp:table -->`;
export const figure = (id, alt = "", size = "large") => `<!-- wp:image {"id":${id},"sizeSlug":"${size}","linkDestination":"none"} -->\n<figure class="wp-block-image size-${size}"><img src="/uploads/${id}${size === "large" ? "-large" : ""}.png" alt="${alt}" class="wp-image-${id}"/></figure>\n<!-- /wp:image -->`;
export const galleryOf = (...images) => `<!-- wp:gallery {"linkTo":"none"} -->\n<figure class="wp-block-gallery has-nested-images columns-default is-cropped">${images.join("\n\n")}</figure>\n<!-- /wp:gallery -->`;
export const embed = (url, ratio, type = "video", name = "youtube") => {
  const aspect = ratio ? `wp-embed-aspect-${ratio} wp-has-aspect-ratio` : "";
  return `<!-- wp:embed {"url":"${url}","type":"${type}","providerNameSlug":"${name}","responsive":true${ratio ? `,"className":"${aspect}"` : ""}} -->\n<figure class="wp-block-embed is-type-${type} is-provider-${name} wp-block-embed-${name}${aspect && ` ${aspect}`}"><div class="wp-block-embed__wrapper">\n${url}\n</div></figure>\n<!-- /wp:embed -->`;
};

/** Ends the browser, and says how it went. */
export async function finish() {
  await browser.close();
  console.log(failed === 0 ? `# all steps passed; screenshots in ${folder}` : `# ${failed} steps failed; screenshots in ${folder}`);
  process.exitCode = failed === 0 ? 0 : 1;
}
