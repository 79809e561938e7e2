// What the editor looks like, with screenshots, at two widths and in two schemes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { embed, figure, folder, galleryOf, paragraph, step, tableOf } from "./harness.js";

const SAMPLE = [
  paragraph('The boats come in before six, and by seven the <strong>market</strong> is <a href="https://example.org/">full</a> of <em>fish</em> and <code>noise</code>.'),
  '<!-- wp:heading -->\n<h2 class="wp-block-heading">What to bring</h2>\n<!-- /wp:heading -->',
  '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>A warm coat</li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li>Coins</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->',
  `<!-- wp:quote -->\n<blockquote class="wp-block-quote">${paragraph("Nobody sleeps here.")}<cite>A fisher</cite></blockquote>\n<!-- /wp:quote -->`,
  '<!-- wp:image {"id":3} -->\n<figure class="wp-block-image"><img src="/uploads/a.png" alt="" class="wp-image-3" width="600" height="200"/><figcaption class="wp-element-caption">The harbour</figcaption></figure>\n<!-- /wp:image -->',
  '<!-- wp:table -->\n<figure class="wp-block-table"><table><thead><tr><th>Fish</th><th>Price</th></tr></thead><tbody><tr><td>Cod</td><td class="has-text-align-right" data-align="right">4</td></tr></tbody></table><figcaption class="wp-element-caption">In November</figcaption></figure>\n<!-- /wp:table -->',
  '<!-- wp:latest-posts /-->',
].join("\n\n");

const LAYOUT = [
  `<!-- wp:columns -->\n<div class="wp-block-columns"><!-- wp:column {"width":"66.66%"} -->\n<div class="wp-block-column" style="flex-basis:66.66%">${paragraph("The boats come in before six, and by seven the market is full of fish and noise.")}</div>\n<!-- /wp:column -->\n\n<!-- wp:column {"width":"33.33%"} -->\n<div class="wp-block-column" style="flex-basis:33.33%">${paragraph("Nobody sleeps here.")}</div>\n<!-- /wp:column --></div>\n<!-- /wp:columns -->`,
  `<!-- wp:buttons -->\n<div class="wp-block-buttons"><!-- wp:button -->\n<div class="wp-block-button"><a class="wp-block-button__link wp-element-button" href="https://example.org/">See the market</a></div>\n<!-- /wp:button -->\n\n<!-- wp:button -->\n<div class="wp-block-button"><a class="wp-block-button__link wp-element-button">Buy</a></div>\n<!-- /wp:button --></div>\n<!-- /wp:buttons -->`,
  galleryOf(figure(1, "Boats"), figure(2), figure(3)),
  `<!-- wp:details -->\n<details class="wp-block-details"><summary>When does it open?</summary>${paragraph("At six.")}</details>\n<!-- /wp:details -->`,
  embed("https://www.youtube.com/watch?v=x", "16-9"),
  `<!-- wp:media-text {"mediaType":"image"} -->\n<div class="wp-block-media-text is-stacked-on-mobile"><figure class="wp-block-media-text__media"><img src="/uploads/9.png" alt=""/></figure><div class="wp-block-media-text__content">${paragraph("Beside a picture.")}</div></div>\n<!-- /wp:media-text -->`,
  tableOf(["Cod", "4"], ["Hake", "5"]),
].join("\n\n");

/** Violations that axe-core finds, if `AXE` is the path of its script. */
async function violations(page) {
  if (!process.env.AXE) return [];
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")}`));
}
const axe = process.env.AXE ? readFileSync(process.env.AXE, "utf8") : "";

for (const width of [1280, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    await step(`looks at ${width} px, ${colorScheme}`, async ({ page, text }) => {
      await text.locator("p").first().click();
      await page.keyboard.press("End");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${wide} px wider than the window`);
      await page.screenshot({ path: join(folder, `sample-${width}-${colorScheme}.png`) });
      await page.keyboard.press("Enter");
      await page.keyboard.type("/");
      await page.screenshot({ path: join(folder, `menu-${width}-${colorScheme}.png`) });
      await page.keyboard.press("Escape");
      await page.keyboard.press("Backspace");
      await page.keyboard.type("marked");
      await page.keyboard.press("Shift+Home");
      await page.screenshot({ path: join(folder, `marked-${width}-${colorScheme}.png`) });
      assert.deepEqual(await violations(page), []);
    }, { content: SAMPLE, width, height: width === 390 ? 844 : 1000, colorScheme });

    await step(`looks at layout at ${width} px, ${colorScheme}`, async ({ page, text }) => {
      // The title is asked for when the card comes into view.
      await text.locator(".editor-embed").scrollIntoViewIfNeeded();
      await text.getByText("A <b>film</b>").waitFor();
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok((await overflow()) <= 0, "wider than the window");
      await text.getByText("Nobody sleeps").click();
      const boxes = await Promise.all([0, 1].map((n) => text.locator("[data-name='core/column']").nth(n).boundingBox()));
      assert.equal(boxes[0].y === boxes[1].y, width >= 700, "columns");
      await page.screenshot({ path: join(folder, `layout-${width}-${colorScheme}.png`), fullPage: true });
      assert.deepEqual(await violations(page), []);
      await text.locator("td").nth(1).click();
      await page.screenshot({ path: join(folder, `table-${width}-${colorScheme}.png`) });
      assert.deepEqual(await violations(page), []);
      assert.ok((await overflow()) <= 0, "wider than the window");
      const bar = page.getByRole("toolbar", { name: "Table" });
      await bar.getByRole("button", { name: "Add row below" }).click();
      assert.equal(await text.locator("tr").count(), 3);
      await text.locator("[data-name='core/gallery']").locator("img").first().click();
      await page.screenshot({ path: join(folder, `picture-${width}-${colorScheme}.png`) });
      await page.getByRole("button", { name: "Add pictures" }).click();
      await page.getByRole("button", { name: "Harbour 1", exact: true }).waitFor();
      assert.deepEqual(await violations(page), []);
      await page.screenshot({ path: join(folder, `media-${width}-${colorScheme}.png`) });
    }, { content: LAYOUT, width, height: width === 390 ? 844 : 1000, colorScheme });
  }
}
