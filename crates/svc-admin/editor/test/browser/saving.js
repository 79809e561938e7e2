// Saving: errors, conflicts, and what is kept without a server.

import assert from "node:assert/strict";
import { join } from "node:path";
import { folder, paragraph, step } from "./harness.js";

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
