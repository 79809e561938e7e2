// Writing: text, formats, the menu, paste, and moving blocks.

import assert from "node:assert/strict";
import { join } from "node:path";
import { folder, paragraph, paste, settled, step } from "./harness.js";

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
