// Drives the editor in Chromium: `node test/browser/run.js [folder for screenshots]`.
//
// CHROMIUM is the browser's path (default /usr/bin/chromium). With AXE, the path of axe-core's script, the pages are checked by
// it. With ONLY, a part of the names of steps, the other steps are left out.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { PNG, Site } from "./server.js";

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "editor-"));
mkdirSync(folder, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

let failed = 0;

/** Only steps whose name has this run, if it is set. */
const only = process.env.ONLY ?? "";

/** Runs a step on a site of its own. */
async function step(name, run, { content = "", width = 1280, height = 900, colorScheme = "light", expected = [] } = {}) {
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

const paragraph = (text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
const content = (page) => page.evaluate(() => document.querySelector("#content").value);
const settled = async (page) => {
  await page.waitForTimeout(350);
  return content(page);
};

/** Pastes data of several types. */
async function paste(page, data) {
  await page.evaluate((data) => {
    const transfer = new DataTransfer();
    for (const [type, value] of Object.entries(data)) if (type !== "file") transfer.setData(type, value);
    if (data.file) transfer.items.add(new File([Uint8Array.from(atob(data.file), (c) => c.charCodeAt(0))], data.name ?? "picture.png", { type: "image/png" }));
    document.querySelector(".editor-text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
  }, data);
}

await step("an unchanged post is saved byte for byte", async ({ site, page, state }) => {
  const before = site.post.content;
  await page.keyboard.press("Control+s");
  await state.filter({ hasText: "Draft saved." }).waitFor();
  assert.equal(site.saves.length, 1);
  assert.equal(site.saves[0].content, before);
}, { content: `\n${paragraph("a &#8217; <b>b</b>")}\n \n<p>free</p>\n\n<!-- wp:x/y {"a":1.0} /-->\n<!-- wp:code --><pre class="wp-block-code"><code>\n\n x</code></pre><!-- /wp:code -->\n` });

await step("typing, Markdown shortcuts and formats", async ({ site, page, text, state }) => {
  await page.locator("#title").click();
  await page.keyboard.type("A title");
  await page.keyboard.press("Enter");
  const type = async (line) => {
    await page.keyboard.type(line);
    await page.keyboard.press("Enter");
  };
  await type("## Heading");
  await type("Some **bold**, *italic*, `code` and ~~old~~ text");
  await type("- one");
  await type("two");
  await page.keyboard.press("Tab");
  await type("inner");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await type("> quoted");
  await page.keyboard.press("Enter");
  await type("---");
  await page.keyboard.press("Backspace");
  await type("1. first");
  await page.keyboard.press("Enter");
  await page.keyboard.type("```");
  await page.keyboard.type("let x;");
  await page.keyboard.press("Control+s");
  await state.filter({ hasText: "Draft saved." }).waitFor();
  const [{ content: saved, title }] = site.saves;
  assert.equal(title, "A title");
  assert.equal(saved, [
    '<!-- wp:heading -->\n<h2 class="wp-block-heading">Heading</h2>\n<!-- /wp:heading -->',
    paragraph("Some <strong>bold</strong>, <em>italic</em>, <code>code</code> and <s>old</s> text"),
    '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>one</li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li>two<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>inner</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list --></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->',
    `<!-- wp:quote -->\n<blockquote class="wp-block-quote">${paragraph("quoted")}</blockquote>\n<!-- /wp:quote -->`,
    '<!-- wp:separator -->\n<hr class="wp-block-separator has-alpha-channel-opacity"/>\n<!-- /wp:separator -->',
    '<!-- wp:list {"ordered":true} -->\n<ol class="wp-block-list"><!-- wp:list-item -->\n<li>first</li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list -->',
    '<!-- wp:code -->\n<pre class="wp-block-code"><code>let x;</code></pre>\n<!-- /wp:code -->',
  ].join("\n\n"));
  await page.keyboard.press("Control+z");
  assert.ok(!(await settled(page)).includes("let x;"));
  await page.keyboard.press("Control+Shift+z");
  assert.equal(await settled(page), saved);
  await text.locator("p").first().click();
  await page.screenshot({ path: join(folder, "typed.png") });
});

await step("selection toolbar and links", async ({ page, text }) => {
  await text.click();
  await page.keyboard.type("some words here");
  await page.keyboard.press("Shift+Home");
  const bar = page.getByRole("toolbar", { name: "Format" });
  await bar.waitFor();
  await page.screenshot({ path: join(folder, "toolbar.png") });
  await bar.getByRole("button", { name: "Bold" }).click();
  assert.equal(await bar.getByRole("button", { name: "Bold" }).getAttribute("aria-pressed"), "true");
  assert.equal(await settled(page), paragraph("<strong>some words here</strong>"));
  await page.keyboard.press("Control+b");
  await page.keyboard.press("Control+k");
  await page.getByRole("textbox", { name: "URL of the link" }).fill("example.org/a?b=1&c=2");
  await page.keyboard.press("Enter");
  assert.equal(await settled(page), paragraph('<a href="https://example.org/a?b=1&amp;c=2">some words here</a>'));
  await page.keyboard.press("Control+k");
  await page.getByRole("button", { name: "Remove" }).click();
  assert.equal(await settled(page), paragraph("some words here"));
  // A keyboard reaches the formats.
  await page.keyboard.press("Alt+F10");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.equal(await settled(page), paragraph("<em>some words here</em>"));
});

await step("the menu of blocks", async ({ page, text }) => {
  await text.click();
  await page.keyboard.type("/");
  const menu = page.getByRole("listbox", { name: "Blocks" });
  await menu.waitFor();
  assert.equal(await text.getAttribute("role"), "combobox");
  await page.screenshot({ path: join(folder, "menu.png") });
  await page.keyboard.type("quo");
  assert.equal(await menu.getByRole("option").count(), 1);
  await page.keyboard.press("Escape");
  assert.ok(await menu.isHidden());
  assert.equal(await text.getAttribute("role"), "textbox");
  assert.equal(await settled(page), paragraph("/quo"));
  for (let n = 0; n < 4; n += 1) await page.keyboard.press("Backspace");
  await page.keyboard.type("/");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Small");
  assert.equal(await settled(page), '<!-- wp:heading {"level":3} -->\n<h3 class="wp-block-heading">Small</h3>\n<!-- /wp:heading -->');
});

await step("pasted Markdown, Word, Google Docs and blocks keep their structure", async ({ page, text }) => {
  const clear = async () => {
    await text.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Backspace");
    // A heading or list stays otherwise.
    await page.keyboard.press("Backspace");
  };
  await text.click();
  await paste(page, { "text/plain": "# Top\n\nA **b** [c](https://example.org/)\n\n- x\n  - y\n\n> q\n\n```js\nlet a;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n" });
  assert.equal(await settled(page), [
    '<!-- wp:heading {"level":1} -->\n<h1 class="wp-block-heading">Top</h1>\n<!-- /wp:heading -->',
    paragraph('A <strong>b</strong> <a href="https://example.org/">c</a>'),
    '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>x<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>y</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list --></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->',
    `<!-- wp:quote -->\n<blockquote class="wp-block-quote">${paragraph("q")}</blockquote>\n<!-- /wp:quote -->`,
    '<!-- wp:code -->\n<pre class="wp-block-code"><code>let a;</code></pre>\n<!-- /wp:code -->',
    '<!-- wp:table -->\n<figure class="wp-block-table"><table class="has-fixed-layout"><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></figure>\n<!-- /wp:table -->',
  ].join("\n\n"));
  await clear();
  await paste(page, {
    "text/plain": "Title\nText\n·Item\n",
    "text/html": `<html xmlns:o="urn:x"><head><style>p.MsoNormal{font:1pt x}</style></head><body><!--StartFragment--><h2 style='color:red'>Title<o:p></o:p></h2><p class=MsoNormal><span style='font-family:X'>Text <b>bold</b></span></p><p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><![if !supportLists]><span style='mso-list:Ignore'>·<span>&nbsp;&nbsp; </span></span><![endif]>Item</p><p class=MsoListParagraph style='mso-list:l0 level2 lfo1'><span style='mso-list:Ignore'>1.</span>Inner</p><!--EndFragment--></body></html>`,
  });
  assert.equal(await settled(page), [
    '<!-- wp:heading -->\n<h2 class="wp-block-heading">Title</h2>\n<!-- /wp:heading -->',
    paragraph("Text <strong>bold</strong>").replaceAll("strong>", "b>"),
    '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>Item<!-- wp:list {"ordered":true} -->\n<ol class="wp-block-list"><!-- wp:list-item -->\n<li>Inner</li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list --></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->',
  ].join("\n\n"));
  await clear();
  await paste(page, {
    "text/plain": "Head\nBold and link\none\ntwo",
    "text/html": `<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1"><h3 dir="ltr"><span style="font-size:16pt;font-weight:400;">Head</span></h3><p dir="ltr"><span style="font-weight:700">Bold</span><span style="font-weight:400"> and </span><a href="https://example.org/"><span style="text-decoration:underline">link</span></a></p><ul><li dir="ltr"><p dir="ltr"><span>one</span></p></li><ul><li><p><span style="font-style:italic">two</span></p></li></ul></ul></b>`,
  });
  assert.equal(await settled(page), [
    '<!-- wp:heading {"level":3} -->\n<h3 class="wp-block-heading">Head</h3>\n<!-- /wp:heading -->',
    paragraph('<strong>Bold</strong> and <a href="https://example.org/">link</a>'),
    '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>one<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li><em>two</em></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list --></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->',
  ].join("\n\n"));
  await clear();
  const blocks = `${paragraph("a")}\n\n<!-- wp:my/block {"x":1.0} /-->`;
  await paste(page, { "text/plain": blocks });
  assert.equal(await settled(page), blocks);
  await clear();
  // The editor's own attributes are not taken from a page.
  await paste(page, { "text/plain": "x", "text/html": '<div data-block="opaque" data-name="core/html" data-source="&lt;script&gt;alert(1)&lt;/script&gt;">x</div><p data-pm-slice="0 0 [&quot;paragraph&quot;,{&quot;html&quot;:&quot; onclick=x&quot;}]" onclick="alert(1)">y<img src="javascript:alert(1)"><a href="javascript:alert(1)">z</a></p>' });
  assert.equal(await settled(page), [paragraph("x"), paragraph("yz")].join("\n\n"));
});

await step("cut and pasted blocks keep their attributes", async ({ page, text, context, origin }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await text.locator("p").first().click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+x");
  await text.locator("p").last().click();
  await page.keyboard.press("End");
  await page.keyboard.press("Control+v");
  assert.equal(await settled(page), `${paragraph("b")}\n\n<!-- wp:paragraph {"align":"center","my":1.0} -->\n<p class="has-text-align-center">a</p>\n<!-- /wp:paragraph -->`);
}, { content: `<!-- wp:paragraph {"align":"center","my":1.0} -->\n<p class="has-text-align-center">a</p>\n<!-- /wp:paragraph -->\n\n${paragraph("b")}` });

await step("blocks are moved, copied and deleted", async ({ page, text }) => {
  await text.locator("p").first().click();
  await page.keyboard.press("Alt+Shift+ArrowDown");
  assert.equal(await settled(page), [paragraph("two"), paragraph("one"), "<!-- wp:my/block /-->"].join("\n\n"));
  await page.keyboard.press("Alt+Shift+ArrowUp");
  await text.locator("p").nth(1).hover();
  await page.getByRole("button", { name: /^Block:/ }).click();
  await page.screenshot({ path: join(folder, "actions.png") });
  await page.getByRole("menuitem", { name: "Move up" }).click();
  assert.equal(await settled(page), [paragraph("two"), paragraph("one"), "<!-- wp:my/block /-->"].join("\n\n"));
  await text.locator("p").nth(1).hover();
  await page.getByRole("button", { name: /^Block:/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  assert.equal(await settled(page), [paragraph("two"), "<!-- wp:my/block /-->"].join("\n\n"));
  // By mouse, to the end.
  await text.locator("p").first().hover();
  const grip = await page.getByRole("button", { name: /^Block:/ }).boundingBox();
  const last = await text.locator(".editor-opaque").boundingBox();
  await page.mouse.move(grip.x + 5, grip.y + 5);
  await page.mouse.down();
  await page.mouse.move(last.x + 30, last.y + last.height - 2, { steps: 8 });
  await page.mouse.up();
  assert.equal(await settled(page), ["<!-- wp:my/block /-->", paragraph("two")].join("\n\n"));
}, { content: [paragraph("one"), paragraph("two"), "<!-- wp:my/block /-->"].join("\n\n") });

await step("other blocks are shown without scripts and edited as text", async ({ page, text }) => {
  const block = text.locator(".editor-opaque").first();
  const shown = await page.evaluate(() => {
    const { shadowRoot } = document.querySelector(".editor-preview");
    return { html: shadowRoot.innerHTML, color: getComputedStyle(shadowRoot.querySelector("b")).color, figure: getComputedStyle(shadowRoot.querySelector("figure")).marginLeft };
  });
  assert.ok(!/script|onclick|onerror|iframe|javascript/.test(shown.html), shown.html);
  assert.equal(shown.color, "rgb(1, 2, 3)");
  assert.equal(shown.figure, "0px");
  await block.hover();
  await block.getByRole("button", { name: "Edit as text" }).click();
  const field = page.getByRole("textbox", { name: "Markup of the block" });
  assert.match(await field.inputValue(), /^<!-- wp:group -->/);
  await field.fill("<!-- wp:group -->");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("alert").filter({ hasText: "counterpart" }).waitFor();
  await field.fill(`${paragraph("now text")}`);
  await page.getByRole("button", { name: "Done" }).click();
  await page.keyboard.press("Control+End");
  assert.equal(await settled(page), paragraph("now text"));
  assert.equal(await text.locator("p").innerText(), "now text");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
}, { content: '<!-- wp:group --><div onclick="window.hacked=1"><script>window.hacked=1</script><img src="x" onerror="window.hacked=1"><iframe srcdoc="x"></iframe><a href="java&#9;script:window.hacked=1">l</a><b style="color: rgb(1, 2, 3)">x</b><figure>f</figure></div><!-- /wp:group -->' });

const tableOf = (...rows) => `<!-- wp:table -->\n<figure class="wp-block-table"><table class="has-fixed-layout"><tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody></table></figure>\n<!-- /wp:table -->`;

await step("tables are written by keyboard", async ({ page, text }) => {
  await text.click();
  await page.keyboard.type("/tab");
  await page.keyboard.press("Enter");
  for (const cell of ["a", "b", "c", "d", "e"]) {
    await page.keyboard.type(cell);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("f **g**");
  await page.keyboard.press("Enter");
  await page.keyboard.type("h");
  assert.equal(await settled(page), tableOf(["a", "b"], ["c", "d"], ["e", "f <strong>g</strong><br>h"]));
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  assert.equal(await settled(page), tableOf(["a", "b"], ["c", "d"], ["", "f <strong>g</strong><br>h"]));
  // The bar, by keyboard and by mouse.
  const bar = page.getByRole("toolbar", { name: "Table" });
  await page.keyboard.press("Alt+F10");
  assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Add row above");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.equal(await settled(page), tableOf(["a", "b"], ["c", "d"]));
  await text.locator("td").first().click();
  await bar.getByRole("button", { name: "Header row" }).click();
  await bar.getByRole("button", { name: "Align center" }).click();
  await bar.getByRole("button", { name: "Add column after" }).click();
  await bar.getByRole("button", { name: "Add row below" }).click();
  const head = (rows) => `<!-- wp:table -->\n<figure class="wp-block-table"><table class="has-fixed-layout"><thead>${rows}</tbody></table></figure>\n<!-- /wp:table -->`;
  const center = ' class="has-text-align-center" data-align="center"';
  assert.equal(await settled(page), head(`<tr><th${center}>a</th><th></th><th>b</th></tr><tr><th${center}></th><th></th><th></th></tr></thead><tbody><tr><td${center}>c</td><td></td><td>d</td></tr>`));
  await page.screenshot({ path: join(folder, "table.png") });
  for (let n = 0; n < 4; n += 1) await page.keyboard.press("Control+z");
  assert.equal(await settled(page), tableOf(["a", "b"], ["c", "d"]));
  // Cells are selected, merged and split.
  const [from, to] = [await text.locator("td").nth(0).boundingBox(), await text.locator("td").nth(1).boundingBox()];
  await page.mouse.move(from.x + 20, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(to.x + 20, to.y + 10, { steps: 4 });
  await page.mouse.up();
  await bar.getByRole("button", { name: "Merge or split" }).click();
  assert.equal(await settled(page), tableOf(["a", "b"], ["c", "d"]).replace("<td>a</td><td>b</td>", '<td colspan="2">a<br>b</td>'));
  await bar.getByRole("button", { name: "Merge or split" }).click();
  assert.equal(await settled(page), tableOf(["a<br>b", ""], ["c", "d"]));
  // The caption, and out of it.
  await text.locator("figcaption").click();
  await page.keyboard.type("Caption");
  await page.keyboard.press("Enter");
  await page.keyboard.type("after");
  assert.equal(await settled(page), `${tableOf(["a<br>b", ""], ["c", "d"]).replace("</table>", '</table><figcaption class="wp-element-caption">Caption</figcaption>')}\n\n${paragraph("after")}`);
  // Escape selects the table as one.
  await text.locator("td").first().click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Delete");
  assert.equal(await settled(page), paragraph("after"));
});

await step("cells are pasted into cells, and text without blocks", async ({ page, text }) => {
  await text.locator("td").nth(1).click();
  await paste(page, { "text/plain": "1\t2\n3\t4\n" });
  assert.equal(await settled(page), tableOf(["a", "1", "2"], ["c", "3", "4"]));
  await text.locator("td").first().click();
  await page.keyboard.press("End");
  await paste(page, { "text/plain": "x", "text/html": "<h2>One</h2><ul><li>two <b>three</b></li><li>four</li></ul>" });
  assert.equal(await settled(page), tableOf(["aOne<br>two <b>three</b><br>four", "1", "2"], ["c", "3", "4"]));
  await page.keyboard.press("Control+z");
  await paste(page, { "text/plain": "- p\n- q" });
  assert.equal(await settled(page), tableOf(["ap<br>q", "1", "2"], ["c", "3", "4"]));
  await page.keyboard.press("Control+z");
  await paste(page, { "text/plain": "x", "text/html": "<table><tr><td>7</td><td>8</td></tr></table>" });
  assert.equal(await settled(page), tableOf(["7", "8", "2"], ["c", "3", "4"]));
  // Cells that are copied.
  const boxes = [await text.locator("td").nth(0).boundingBox(), await text.locator("td").nth(3).boundingBox()];
  await page.mouse.move(boxes[0].x + 10, boxes[0].y + 10);
  await page.mouse.down();
  await page.mouse.move(boxes[1].x + 10, boxes[1].y + 10, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.press("Control+c");
  await text.locator("td").nth(2).click();
  await page.keyboard.press("Control+v");
  assert.equal(await settled(page), tableOf(["7", "8", "7"], ["c", "3", "c"]));
}, { content: tableOf(["a", "b"], ["c", "d"]) });

await step("images upload with progress, ask for alternative text, and survive failures", async ({ site, page, text, state }) => {
  site.slow = 400;
  await text.click();
  await page.keyboard.type("before");
  await paste(page, { file: PNG.toString("base64"), name: "Bild ü.png" });
  await text.locator("progress").waitFor();
  await page.screenshot({ path: join(folder, "upload.png") });
  assert.equal(await content(page).then(() => settled(page)), paragraph("before"));
  await text.locator("img[src='/uploads/101-large.png']").waitFor();
  assert.match(site.uploads[0].headers["content-disposition"], /^attachment; filename="Bild _\.png"; filename\*=UTF-8''Bild%20%C3%BC\.png$/);
  await page.getByRole("textbox", { name: "Alternative text" }).fill('A "red" dot');
  await page.keyboard.press("Enter");
  assert.equal(await settled(page), `${paragraph("before")}\n\n<!-- wp:image {"id":101,"sizeSlug":"large","linkDestination":"none"} -->\n<figure class="wp-block-image size-large"><img src="/uploads/101-large.png" alt="A &quot;red&quot; dot" class="wp-image-101"/></figure>\n<!-- /wp:image -->`);
  // An expired nonce is renewed, a failure can be tried again, a large file is refused at once.
  site.slow = 0;
  site.nonce = "n2";
  site.failUploads = 1;
  await page.keyboard.press("Enter");
  await paste(page, { file: PNG.toString("base64") });
  await page.getByText("The disk is full.").waitFor();
  assert.equal(site.uploads.length, 3);
  await page.screenshot({ path: join(folder, "failed-upload.png") });
  await page.getByRole("button", { name: "Try again" }).click();
  await text.locator("img[src='/uploads/104-large.png']").waitFor();
  await page.locator("input[type=file]").setInputFiles({ name: "large.png", mimeType: "image/png", buffer: Buffer.alloc(1_500_000) });
  await state.filter({ hasText: "large.png is too large: 1.5 MB, and 1.0 MB is allowed." }).waitFor();
  assert.equal(site.uploads.length, 4);
});

const figure = (id, alt = "", size = "large") => `<!-- wp:image {"id":${id},"sizeSlug":"${size}","linkDestination":"none"} -->\n<figure class="wp-block-image size-${size}"><img src="/uploads/${id}${size === "large" ? "-large" : ""}.png" alt="${alt}" class="wp-image-${id}"/></figure>\n<!-- /wp:image -->`;
const galleryOf = (...images) => `<!-- wp:gallery {"linkTo":"none"} -->\n<figure class="wp-block-gallery has-nested-images columns-default is-cropped">${images.join("\n\n")}</figure>\n<!-- /wp:gallery -->`;

await step("several pictures at once are a gallery, which is ordered, described and extended", async ({ site, page, text }) => {
  await text.click();
  await page.keyboard.type("before");
  site.slow = 300;
  await page.evaluate((data) => {
    const transfer = new DataTransfer();
    for (const name of ["a.png", "b.png", "c.png"]) transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name, { type: "image/png" }));
    const { left, top } = document.querySelector(".editor-text p").getBoundingClientRect();
    document.querySelector(".editor-text").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true, clientX: left + 5, clientY: top + 5 }));
  }, PNG.toString("base64"));
  await text.locator("progress").nth(2).waitFor();
  await page.screenshot({ path: join(folder, "gallery-upload.png") });
  await text.locator("img[src='/uploads/103-large.png']").waitFor();
  await page.waitForTimeout(100);
  const alt = page.getByRole("textbox", { name: "Alternative text" });
  await alt.nth(1).fill("Second");
  assert.equal(await settled(page), `${paragraph("before")}\n\n${galleryOf(figure(101), figure(102, "Second"), figure(103))}`);
  // By keyboard, and by mouse.
  await text.locator("img").nth(1).click();
  await page.keyboard.press("Alt+Shift+ArrowLeft");
  assert.equal(await settled(page), `${paragraph("before")}\n\n${galleryOf(figure(102, "Second"), figure(101), figure(103))}`);
  const [first, last] = [await text.locator("img").nth(0).boundingBox(), await text.locator("figure").nth(2).boundingBox()];
  await page.mouse.move(first.x + 20, first.y + 20);
  await page.mouse.down();
  await page.mouse.move(last.x + last.width - 4, last.y + 40, { steps: 10 });
  await page.mouse.up();
  assert.equal(await settled(page), `${paragraph("before")}\n\n${galleryOf(figure(101), figure(103), figure(102, "Second"))}`);
  // From the media, with search.
  await text.locator("[data-name='core/gallery']").hover({ position: { x: 10, y: 10 } });
  await page.getByRole("button", { name: "Add pictures" }).click();
  const dialog = page.getByRole("dialog", { name: "Choose images" });
  await dialog.getByRole("button", { name: "Boats" }).click();
  await dialog.getByRole("button", { name: "More" }).click();
  await dialog.getByRole("button", { name: "Harbour 29" }).waitFor();
  await page.screenshot({ path: join(folder, "media.png") });
  await dialog.getByRole("searchbox").fill("harbour 17");
  await dialog.getByRole("button", { name: "Harbour 17" }).click();
  await dialog.getByRole("button", { name: "Insert 2 images" }).click();
  const all = galleryOf(figure(101), figure(103), figure(102, "Second"), figure(500, "Boats &amp; &quot;nets&quot;", "full"), figure(517, "", "full"));
  assert.equal(await settled(page), `${paragraph("before")}\n\n${all}`);
  await page.screenshot({ path: join(folder, "gallery.png") });
  // A caption, and on below.
  await text.locator("[data-name='core/gallery'] > .editor-inside > figcaption").click();
  await page.keyboard.type("The harbour");
  await page.keyboard.press("Enter");
  await page.keyboard.type("after");
  assert.equal(await settled(page), [paragraph("before"), all.replace("</figure>\n<!-- /wp:gallery", '<figcaption class="wp-element-caption">The harbour</figcaption></figure>\n<!-- /wp:gallery'), paragraph("after")].join("\n\n"));
  // Without its last picture, the gallery is gone.
  for (let n = 0; n < 5; n += 1) {
    await text.locator("img").first().click();
    await page.keyboard.press("Delete");
  }
  assert.equal(await settled(page), [paragraph("before"), paragraph("after")].join("\n\n"));
});

await step("an image from the media", async ({ page, text }) => {
  await text.click();
  await page.keyboard.type("/media");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Choose an image" }).getByRole("button", { name: "Harbour 3", exact: true }).click();
  assert.equal(await settled(page), figure(503, "", "full"));
});

await step("a picture that was not uploaded is offered again", async ({ site, page, text, context, open }) => {
  site.failUploads = 2;
  await text.click();
  await page.keyboard.type("text");
  await paste(page, { file: PNG.toString("base64"), name: "first.png" });
  await page.getByText("This browser keeps the picture.").waitFor();
  await page.getByRole("textbox", { name: "Alternative text" }).fill("Described");
  await page.keyboard.press("Control+s");
  await page.locator("#save-state", { hasText: "Draft saved." }).waitFor();
  await page.close({ runBeforeUnload: false });
  const again = await context.newPage();
  await open(again);
  await again.getByText("A picture was not uploaded: first.png.").waitFor();
  await again.screenshot({ path: join(folder, "picture-left.png") });
  // A page that is open keeps its own.
  const other = await context.newPage();
  await open(other);
  await again.bringToFront();
  await again.getByRole("button", { name: "Upload again" }).click();
  await again.getByText("The disk is full.").waitFor();
  await again.getByRole("button", { name: "Try again" }).click();
  await again.locator("img[src='/uploads/103-large.png']").waitFor();
  assert.equal(await settled(again), `${paragraph("text")}\n\n${figure(103, "Described")}`);
  await open(other);
  await other.waitForTimeout(300);
  assert.equal(await other.getByText("was not uploaded").count(), 0);
});

await step("leaving is warned about if a picture would be lost", async ({ site, page, text }) => {
  await page.evaluate(() => Object.defineProperty(IDBFactory.prototype, "open", { value: () => { throw new Error("full"); } }));
  site.failUploads = 1;
  await text.click();
  await paste(page, { file: PNG.toString("base64") });
  await page.getByText("The picture is lost if you leave this page.").waitFor();
  const asked = page.waitForEvent("dialog");
  page.goto("about:blank").catch(() => {});
  const dialog = await asked;
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();
  await page.getByRole("button", { name: "Try again" }).click();
  await text.locator("img[src='/uploads/102-large.png']").waitFor();
});

await step("columns, groups, details and buttons", async ({ page, text }) => {
  await text.click();
  await page.keyboard.type("/col");
  await page.keyboard.press("Enter");
  await page.keyboard.type("left");
  await page.keyboard.press("Enter");
  await page.keyboard.type("- item");
  await text.locator("[data-name='core/column']").nth(1).locator("p").click();
  await page.keyboard.type("right");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.keyboard.type("below");
  const list = '<!-- wp:list -->\n<ul class="wp-block-list"><!-- wp:list-item -->\n<li>item</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->';
  const columns = (...list) => `<!-- wp:columns -->\n<div class="wp-block-columns">${list.map((blocks) => `<!-- wp:column -->\n<div class="wp-block-column">${blocks.join("\n\n")}</div>\n<!-- /wp:column -->`).join("\n\n")}</div>\n<!-- /wp:columns -->`;
  assert.equal(await settled(page), `${columns([paragraph("left"), list], [paragraph("right")])}\n\n${paragraph("below")}`);
  await page.screenshot({ path: join(folder, "columns.png") });
  // Blocks move within a column, and to the next one.
  await text.getByText("left").click();
  await page.keyboard.press("Alt+Shift+ArrowDown");
  assert.equal(await settled(page), `${columns([list, paragraph("left")], [paragraph("right")])}\n\n${paragraph("below")}`);
  await page.keyboard.press("Alt+Shift+ArrowDown");
  assert.equal(await settled(page), `${columns([list], [paragraph("left"), paragraph("right")])}\n\n${paragraph("below")}`);
  await page.keyboard.press("Alt+Shift+ArrowUp");
  assert.equal(await settled(page), `${columns([list, paragraph("left")], [paragraph("right")])}\n\n${paragraph("below")}`);
  // The columns as one: Escape twice, or the handle.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Alt+Shift+ArrowDown");
  assert.equal(await settled(page), `${paragraph("below")}\n\n${columns([list, paragraph("left")], [paragraph("right")])}`);
  await page.keyboard.press("Delete");
  assert.equal(await settled(page), paragraph("below"));
  await text.getByText("below").click();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("/but");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Read");
  await page.getByRole("textbox", { name: "URL of the button" }).fill("example.org/a?b&c");
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("More");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.keyboard.type("/det");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Why?");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Because");
  const button = (label, href = "") => `<!-- wp:button -->\n<div class="wp-block-button"><a class="wp-block-button__link wp-element-button"${href}>${label}</a></div>\n<!-- /wp:button -->`;
  assert.equal(await settled(page), [
    paragraph("below"),
    `<!-- wp:buttons -->\n<div class="wp-block-buttons">${button("Read", ' href="https://example.org/a?b&amp;c"')}\n\n${button("More")}</div>\n<!-- /wp:buttons -->`,
    `<!-- wp:details -->\n<details class="wp-block-details"><summary>Why?</summary>${paragraph("Because")}</details>\n<!-- /wp:details -->`,
  ].join("\n\n"));
  await page.screenshot({ path: join(folder, "buttons.png") });
});

const embed = (url, ratio, type = "video", name = "youtube") => {
  const aspect = ratio ? `wp-embed-aspect-${ratio} wp-has-aspect-ratio` : "";
  return `<!-- wp:embed {"url":"${url}","type":"${type}","providerNameSlug":"${name}","responsive":true${ratio ? `,"className":"${aspect}"` : ""}} -->\n<figure class="wp-block-embed is-type-${type} is-provider-${name} wp-block-embed-${name}${aspect && ` ${aspect}`}"><div class="wp-block-embed__wrapper">\n${url}\n</div></figure>\n<!-- /wp:embed -->`;
};
await step("links of providers become embeds, with their title and without requests to other hosts", async ({ site, page, text }) => {
  const others = [];
  page.on("request", (request) => new URL(request.url()).hostname !== "127.0.0.1" && others.push(request.url()));
  await text.click();
  await paste(page, { "text/plain": "https://www.youtube.com/watch?v=x" });
  await page.keyboard.type("after ");
  await text.getByText("A <b>film</b>").waitFor();
  // The ratio that the provider answered.
  assert.equal(await settled(page), `${embed("https://www.youtube.com/watch?v=x", "4-3")}\n\n${paragraph("after ")}`);
  await page.screenshot({ path: join(folder, "embed.png") });
  // Not within text, and not of other hosts.
  await paste(page, { "text/plain": "https://www.youtube.com/watch?v=y" });
  assert.match(await settled(page), /<p>after https:\/\/www\.youtube\.com\/watch\?v=y<\/p>/);
  await page.keyboard.press("Enter");
  await paste(page, { "text/plain": "https://example.org/watch?v=y" });
  assert.match(await settled(page), /<p>https:\/\/example\.org\/watch\?v=y<\/p>/);
  // From the menu; what the provider does not know stays as it is.
  await page.keyboard.press("Enter");
  await page.keyboard.type("/emb");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "URL to embed" }).fill("https://vimeo.com/missing");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(300);
  assert.ok((await settled(page)).endsWith(embed("https://vimeo.com/missing", "16-9", "video", "vimeo")));
  await text.locator("figcaption").last().click();
  await page.keyboard.type("Cap");
  await page.keyboard.press("Enter");
  await page.keyboard.type("/emb");
  await page.keyboard.press("Enter");
  await page.keyboard.type("example.org/x");
  await page.keyboard.press("Enter");
  const end = await settled(page);
  assert.match(end, /<figcaption class="wp-element-caption">Cap<\/figcaption>/);
  assert.ok(end.endsWith(paragraph('<a href="https://example.org/x">https://example.org/x</a>')), end);
  assert.deepEqual(site.embeds, ["https://www.youtube.com/watch?v=x", "https://vimeo.com/missing"]);
  assert.deepEqual(others, []);
});

await step("classic text is converted to blocks, and back by undo", async ({ page, text, state, site }) => {
  const before = site.post.content;
  const bar = page.getByRole("region", { name: "Classic text" });
  await page.screenshot({ path: join(folder, "classic.png") });
  await bar.getByRole("button", { name: "Convert to blocks" }).click();
  // The line break at the end stays.
  assert.equal((await settled(page)).replace(/\n$/, ""), [paragraph("One<br>two"), '<!-- wp:heading {"level":3} -->\n<h3 class="wp-block-heading">Three</h3>\n<!-- /wp:heading -->', paragraph("four")].join("\n\n"));
  assert.ok(await bar.isHidden());
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+s");
  await state.filter({ hasText: "Draft saved." }).waitFor();
  assert.equal(site.saves[0].content, before);
  assert.ok(await bar.isVisible());
  await bar.getByRole("button", { name: "Convert to blocks" }).click();
  await text.getByText("four").click();
  await page.keyboard.press("End");
  await page.keyboard.type(" five");
  await page.keyboard.press("Control+s");
  for (let n = 0; n < 50 && site.saves.length < 2; n += 1) await page.waitForTimeout(50);
  assert.match(site.saves[1].content, /<p>four five<\/p>/);
}, { content: "One\r\ntwo\r\n<h3>Three</h3>\r\nfour\r\n" });

await step("classic text with more than that is left as it is", async ({ page }) => {
  assert.ok(await page.getByRole("region", { name: "Classic text" }).isHidden());
}, { content: "<div>box</div>\n\ntext" });

const COVER = (inside) => `<!-- wp:cover {"url":"/uploads/1.png","dimRatio":50} -->\n<div class="wp-block-cover"><span aria-hidden="true" class="wp-block-cover__background has-background-dim"></span><img class="wp-block-cover__image-background" alt="" src="/uploads/1.png" data-object-fit="cover"/><div class="wp-block-cover__inner-container">  ${inside}\n</div></div>\n<!-- /wp:cover -->`;
await step("blocks within any wrapper are edited, and the wrapper stays byte for byte", async ({ page, text }) => {
  const inner = (word) => `<!-- wp:my/box {"n":1.0} --><my-box data-x='1'><!-- wp:heading -->\n<h2>Old  heading</h2>\n<!-- /wp:heading -->\n<!-- wp:paragraph -->\n<p>${word}</p>\n<!-- /wp:paragraph --></my-box><!-- /wp:my/box -->`;
  await text.locator("p").click();
  await page.keyboard.press("End");
  await page.keyboard.type(" more");
  assert.equal(await settled(page), COVER(inner("text more")));
  await page.screenshot({ path: join(folder, "cover.png") });
  // A wrapper is edited as text, and left unchanged by Cancel.
  await text.locator("p").hover();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await text.locator("[data-name='core/cover']").hover({ position: { x: 5, y: 5 } });
  await page.getByRole("button", { name: /^Block:/ }).click();
  await page.getByRole("menuitem", { name: "Edit as text" }).click();
  const field = page.getByRole("textbox", { name: "Markup of the block" });
  assert.equal(await field.inputValue(), COVER(inner("text more")));
  await field.fill("x");
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await settled(page), COVER(inner("text more")));
  assert.equal(await text.locator("p").innerText(), "text more");
}, { content: COVER(`<!-- wp:my/box {"n":1.0} --><my-box data-x='1'><!-- wp:heading -->\n<h2>Old  heading</h2>\n<!-- /wp:heading -->\n<!-- wp:paragraph -->\n<p>text</p>\n<!-- /wp:paragraph --></my-box><!-- /wp:my/box -->`) });

await step("invalid field, expired nonce, logged out", async ({ site, page, text, state, context }) => {
  await text.click();
  await page.keyboard.type("text");
  await page.locator("summary").click();
  await page.getByLabel("Slug").fill("taken");
  await page.locator("summary").click();
  await page.getByRole("button", { name: "Save draft" }).click();
  await page.getByText("Another post has this slug.").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.name), "slug");
  await page.getByLabel("Slug").fill("free");
  site.nonce = "n2";
  await page.getByRole("button", { name: "Save draft" }).click();
  await state.filter({ hasText: "Draft saved." }).waitFor();
  assert.ok(!(await page.getByText("Another post has this slug.").isVisible()));
  site.loggedIn = false;
  site.nonce = "n3";
  await text.locator("p").click();
  await page.keyboard.press("End");
  await page.keyboard.type(" more");
  await page.keyboard.press("Control+s");
  const [login] = await Promise.all([context.waitForEvent("page"), page.getByRole("link", { name: "Log in in a new tab" }).click()]);
  await login.waitForLoadState();
  await login.close();
  await page.bringToFront();
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await state.filter({ hasText: "Draft saved." }).waitFor();
  assert.equal(site.saves.at(-1).content, paragraph("text more"));
  assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("editor-copy:")).length), 0);
});

for (const width of [1280, 390]) {
  await step(`a conflict is resolved block by block at ${width} px`, async ({ site, page, text, state }) => {
    site.change({ content: [paragraph("one"), paragraph("two by Ana"), paragraph("three"), paragraph("four, new")].join("\n\n"), title: "By Ana" });
    await text.locator("p").nth(2).click();
    await page.keyboard.press("End");
    await page.keyboard.type(", mine");
    await page.getByRole("button", { name: "Publish" }).click();
    const dialog = page.getByRole("dialog", { name: "Two versions of this post" });
    await dialog.waitFor();
    await page.screenshot({ path: join(folder, `conflict-${width}.png`) });
    const boxes = await Promise.all(["mine", "theirs"].map((side) => dialog.locator(`[data-side=${side}]`).first().boundingBox()));
    assert.equal(boxes[0].y === boxes[1].y, width >= 900);
    await dialog.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("button", { name: "Compare" }).click();
    // The title, two blocks that differ, and a new one. What only Ana changed is hers unless one chooses otherwise.
    const groups = dialog.getByRole("group");
    assert.equal(await groups.count(), 4);
    assert.deepEqual(await groups.locator("input:checked").evaluateAll((inputs) => inputs.map((input) => input.value)), ["theirs", "theirs", "mine", "theirs"]);
    await groups.nth(2).getByLabel("Keep both").check();
    await dialog.getByRole("button", { name: "Save these choices" }).click();
    await state.filter({ hasText: "Published." }).waitFor();
    assert.equal(site.post.title, "By Ana");
    assert.equal(site.post.content, [paragraph("one"), paragraph("two by Ana"), paragraph("three, mine"), paragraph("three"), paragraph("four, new")].join("\n\n"));
  }, { content: [paragraph("one"), paragraph("two"), paragraph("three")].join("\n\n"), width });
}

await step("offline: the text is kept in the browser and sent later", async ({ site, page, text, state, context, open }) => {
  await context.setOffline(true);
  await text.click();
  await page.keyboard.type("written offline");
  await page.keyboard.press("Control+s");
  await state.filter({ hasText: "Saved in this browser. Trying again in 5 s." }).waitFor();
  await page.screenshot({ path: join(folder, "offline.png") });
  await context.setOffline(false);
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await state.filter({ hasText: "Draft saved." }).waitFor();
  assert.equal(site.post.content, paragraph("written offline"));
  // A server that fails, and a browser that is closed before the next try.
  site.next = [503, 503, 503];
  await page.keyboard.type(", and more");
  await page.keyboard.press("Control+s");
  await state.filter({ hasText: "Saved in this browser." }).waitFor();
  await page.close();
  const again = await context.newPage();
  site.next = [];
  await open(again);
  await again.screenshot({ path: join(folder, "recover.png") });
  await again.getByRole("button", { name: "Restore" }).click();
  await again.keyboard.press("Control+s");
  await again.locator("#save-state", { hasText: "Draft saved." }).waitFor();
  assert.equal(site.post.content, paragraph("written offline, and more"));
  await open(again);
  assert.equal(await again.getByRole("button", { name: "Restore" }).count(), 0);
});

await step("two tabs keep a copy each, and autosaves reach the server", async ({ site, page, text, context, open }) => {
  const other = await context.newPage();
  await open(other);
  await page.bringToFront();
  await text.click();
  await page.keyboard.type("first tab");
  await other.bringToFront();
  await other.locator(".editor-text").click();
  await other.keyboard.type("second tab");
  await other.waitForTimeout(2500);
  const third = await context.newPage();
  await open(third);
  assert.equal(await third.getByRole("button", { name: "Restore" }).count(), 2);
  await third.close();
  const limit = Date.now() + 20_000;
  while (site.saves.length < 2 && Date.now() < limit) await page.waitForTimeout(250);
  assert.deepEqual(site.saves.map(({ action }) => action), ["autosave", "autosave"]);
  assert.deepEqual(site.saves.map(({ content: text }) => text).sort(), [paragraph("first tab"), paragraph("second tab")]);
});

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

await browser.close();
console.log(failed === 0 ? `# all steps passed; screenshots in ${folder}` : `# ${failed} steps failed; screenshots in ${folder}`);
process.exitCode = failed === 0 ? 0 : 1;
