// What a key takes in a long post.

import assert from "node:assert/strict";
import { figure, galleryOf, paragraph, settled, step, tableOf } from "./harness.js";

/** Types where the cursor is, and prints what each key takes. */
async function measureTyping({ page, context }, where) {
  // CPU time of the page's main thread, which does not depend on what else the machine does.
  const session = await context.newCDPSession(page);
  const metrics = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(() => {
    const keys = (window.__keys = []);
    let start = 0;
    addEventListener("keydown", (event) => (start = event.timeStamp), true);
    addEventListener("input", () => requestAnimationFrame(() => setTimeout(() => keys.push(performance.now() - start))));
  });
  const keys = [..."The quick brown fox jumps over the lazy dog. ".repeat(4)];
  // Of each key alone: the process' CPU time until nothing is left to do.
  const before = await metrics();
  const cpu = [];
  let last = before;
  for (const key of keys) {
    await page.keyboard.press(key === " " ? "Space" : key, { delay: 20 });
    const now = await metrics();
    cpu.push((now.TaskDuration - last.TaskDuration) * 1000);
    last = now;
  }
  await page.waitForTimeout(500);
  const after = await metrics();
  const per = (name) => ((after[name] - before[name]) * 1000) / keys.length;
  const shown = await page.evaluate(() => window.__keys);
  const at = (list, part) => list.toSorted((a, b) => a - b)[Math.floor(list.length * part)].toFixed(1);
  console.log(`# ${where}: ${per("TaskDuration").toFixed(1)} ms of CPU for each key (p50 ${at(cpu, 0.5)}, p95 ${at(cpu, 0.95)}), ${per("ScriptDuration").toFixed(1)} ms of them in scripts, ${per("RecalcStyleDuration").toFixed(1)} for styles, ${per("LayoutDuration").toFixed(1)} for layout; until painted: p50 ${at(shown, 0.5)} ms, p95 ${at(shown, 0.95)} ms`);
  assert.equal(shown.length, keys.length);
  assert.ok(per("TaskDuration") <= 16, "16 ms for each key");
}

const HEADING = (n) => `<!-- wp:heading -->\n<h2 class="wp-block-heading">Part ${n}</h2>\n<!-- /wp:heading -->`;
const LONG = (n) => paragraph(`Paragraph ${n} with <strong>bold</strong> and a <a href="https://example.org/${n}">link</a>, long enough for more than one line of the column that the page has.`);

await step("typing in a post of 500 blocks", async ({ page, text, context }) => {
  const opened = await page.evaluate(() => performance.getEntriesByName("editor-open")[0].duration);
  console.log(`# 500 blocks opened in ${opened.toFixed(0)} ms`);
  await text.locator("p").nth(250).click();
  await page.keyboard.press("End");
  await measureTyping({ page, context }, "in a paragraph of 500 blocks");
}, {
  content: Array.from({ length: 500 }, (_, n) => (n % 10 === 0 ? HEADING(n) : LONG(n))).join("\n\n"),
});

for (const [where, selector] of [["a paragraph", ".editor-text > p"], ["a cell", "td"], ["a column", "[data-name='core/column'] p"]]) {
  await step(`typing in ${where} of a post of 500 blocks with tables and columns`, async ({ page, text, context }) => {
    const all = page.locator(selector);
    await all.nth(Math.floor((await all.count()) / 2)).click();
    await page.keyboard.press("End");
    await measureTyping({ page, context }, `in ${where} of 500 blocks with tables, columns and galleries`);
  }, {
    content: Array.from({ length: 500 }, (_, n) => {
      const kinds = [HEADING, LONG, LONG, LONG, LONG, LONG, LONG, LONG, (m) => tableOf(...Array.from({ length: 6 }, () => ["a", "b", "c", String(m)])), (m) => `<!-- wp:columns -->\n<div class="wp-block-columns"><!-- wp:column -->\n<div class="wp-block-column">${LONG(m)}</div>\n<!-- /wp:column -->\n\n<!-- wp:column -->\n<div class="wp-block-column">${LONG(m)}</div>\n<!-- /wp:column --></div>\n<!-- /wp:columns -->`];
      return n % 50 === 0 ? galleryOf(figure(1), figure(2)) : kinds[n % 10](n);
    }).join("\n\n"),
  });
}

await step("the start and the end of a long post are reached by key", async ({ page, text }) => {
  await text.locator("p").nth(5).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" end");
  assert.ok((await settled(page)).endsWith(paragraph("Text 299 end")));
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("start ");
  assert.ok((await settled(page)).startsWith(paragraph("start Text 0")));
  await page.keyboard.press("Control+Shift+End");
  await page.keyboard.press("Backspace");
  assert.equal(await settled(page), paragraph("start "));
}, { content: Array.from({ length: 300 }, (_, n) => paragraph(`Text ${n}`)).join("\n\n") });
