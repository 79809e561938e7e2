// Tables, pictures, galleries, layout, embeds and classic text.

import assert from "node:assert/strict";
import { join } from "node:path";
import { content, embed, figure, folder, galleryOf, paragraph, paste, settled, step, tableOf } from "./harness.js";
import { PNG } from "./server.js";

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
  site.slow = 1500;
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
