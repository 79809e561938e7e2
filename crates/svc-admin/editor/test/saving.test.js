// What the server answers, and what becomes of the text: it is never lost.

import { test } from "node:test";
import assert from "node:assert/strict";
import { compare, isTheirs, join } from "../src/save/diff.js";
import { Clock, FakeServer, FakeStorage, View, kept, settle } from "./world.js";
import { Random } from "./generate.js";

function world() {
  const [site, storage, clock] = [new FakeServer(), new FakeStorage(), new Clock()];
  const view = new View(site, storage, clock);
  const isKept = (word) => assert.ok(kept(site, storage).includes(word), `${word} is kept`);
  return { site, storage, clock, view, isKept };
}

test("the browser has the text after 2 s, the server after 15 s, and a save removes the copy", async () => {
  const { site, storage, clock, view } = world();
  view.type("one");
  await clock.pass(1900);
  assert.equal(storage.length, 0);
  assert.equal(view.saver.isHeld, false);
  await clock.pass(200);
  assert.equal(storage.length, 1);
  assert.equal(view.saver.isHeld, true);
  await clock.pass(12_800);
  assert.deepEqual(site.requests, []);
  await clock.pass(200);
  assert.deepEqual(site.requests, ["autosave"]);
  assert.equal(storage.length, 1, "an autosave does not remove the copy");
  assert.equal(view.form.etag, '"1"');
  await clock.pass(60_000);
  assert.deepEqual(site.requests, ["autosave"], "nothing new is sent");
  await view.save();
  assert.equal(storage.length, 0);
  assert.equal(view.text, "Draft saved.");
  assert.equal(view.form.etag, '"2"');
});

test("typing without a pause is kept, too, and autosaved at most once in 15 s", async () => {
  const { site, storage, clock, view } = world();
  for (let n = 0; n < 100; n += 1) {
    view.type(`word${n}`);
    await clock.pass(1000);
    if (n === 12) assert.match(kept(site, storage), /word8/);
  }
  assert.match(JSON.stringify(site.autosaves), /word50/);
  await clock.pass(60_000);
  assert.ok(site.requests.length >= 2 && site.requests.length <= 4, `${site.requests.length}`);
  assert.match(JSON.stringify(site.autosaves), /word99/);
});

test("400: the error is at its field, the text is kept, and nothing is sent again by itself", async () => {
  const { site, clock, view, isKept } = world();
  view.form.slug = "taken";
  view.type("one");
  await view.save("publish");
  assert.deepEqual(view.errors, ["slug"]);
  isKept("one");
  view.form.slug = "";
  view.type("two");
  site.faults = [503];
  await clock.pass(16_000);
  await clock.pass(10_000);
  assert.deepEqual(site.requests, ["publish", "autosave"], "an autosave does not become the refused action");
});

test("401: the text is kept, and saved after the log-in in another tab", async () => {
  const { site, clock, view, isKept } = world();
  site.loggedIn = false;
  view.type("one");
  await view.save();
  assert.deepEqual([view.states.at(-1).login, view.text], ["/login", "You are logged out."]);
  isKept("one");
  view.type("two");
  await clock.pass(60_000);
  assert.deepEqual(site.requests, ["save"], "autosaves wait");
  isKept("two");
  await view.saver.focused();
  await settle();
  assert.deepEqual(site.requests, ["save"], "still logged out");
  site.loggedIn = true;
  site.nonce = "n2";
  await view.saver.focused();
  await settle();
  assert.match(site.post.content, /two/);
  assert.equal(view.text, "Draft saved.");
});

test("403: a fresh nonce is fetched once", async () => {
  const { site, view, isKept } = world();
  site.nonce = "n2";
  view.type("one");
  await view.save();
  await settle();
  assert.deepEqual(site.requests, ["save", "save"]);
  assert.equal(view.text, "Draft saved.");
  site.faults = [403, null, 403];
  view.type("two");
  await view.save();
  await settle();
  assert.equal(view.text, "Status 403.");
  isKept("two");
  await view.save();
  assert.equal(view.text, "Draft saved.");
});

test("403 after the session ended leads to the log-in", async () => {
  const { site, view, isKept } = world();
  site.faults = [403];
  site.loggedIn = false;
  view.type("one");
  await view.save();
  await settle();
  assert.notEqual(view.states.at(-1).login, undefined);
  isKept("one");
  site.loggedIn = true;
  await view.saver.focused();
  await settle();
  assert.match(site.post.content, /one/);
});

test("412: the conflict is shown and nothing is overwritten", async () => {
  const { site, storage, clock, view, isKept } = world();
  const other = new View(site, storage, clock);
  other.type("theirs");
  await other.save();
  view.type("mine");
  await view.save();
  assert.equal(view.conflict.current.author, "Ana");
  assert.doesNotMatch(site.post.content, /mine/);
  isKept("mine");
  view.type("later");
  await clock.pass(60_000);
  assert.equal(site.requests.length, 2, "autosaves wait");
  isKept("later");
  await view.resolve();
  for (const word of ["theirs", "mine", "later"]) assert.match(site.post.content, new RegExp(word));
});

test("412 of an own save whose answer was lost is no conflict", async () => {
  const { site, clock, view } = world();
  view.type("one");
  site.faults = ["lost"];
  await view.save();
  view.type("two");
  await clock.pass(6000);
  assert.equal(view.conflict, null);
  assert.equal(view.text, "Draft saved.");
  assert.match(site.post.content, /two/);
});

for (const fault of ["cut", 500, 503, 429]) {
  test(`${fault}: tried again with growing pauses, at once when the connection is back`, async () => {
    const { site, storage, clock, view, isKept } = world();
    view.type("one");
    site.faults = Array.from({ length: 6 }, () => fault);
    await view.save("publish");
    assert.equal(view.text, `Saved in this browser. Trying again in ${fault === 429 ? 30 : 5} s.`);
    isKept("one");
    const pauses = [];
    let from = clock.now();
    for (let n = 0; n < 500 && site.faults.length > 0; n += 1) {
      const before = site.faults.length;
      await clock.pass(1000);
      if (site.faults.length < before) {
        pauses.push(Math.round((clock.now() - from) / 1000));
        from = clock.now();
      }
    }
    assert.deepEqual(pauses, fault === 429 ? [30, 30, 30, 40, 60] : [5, 10, 20, 40, 60]);
    view.type("two");
    view.saver.online();
    await settle();
    assert.deepEqual(site.requests, ["publish"]);
    assert.match(site.post.content, /two/);
    assert.equal(storage.length, 0);
    await clock.pass(120_000);
    assert.deepEqual(site.requests, ["publish"]);
  });
}

test("what is typed during a save is kept and sent after it", async () => {
  const { site, storage, clock, view } = world();
  view.type("one");
  const saving = view.save();
  view.type("two");
  view.save();
  await saving;
  await settle();
  assert.equal(site.requests.length, 2);
  assert.match(site.post.content, /two/);
  assert.equal(storage.length, 0);
  const again = view.save();
  view.type("three");
  await again;
  assert.match(kept(site, storage), /three/);
  await clock.pass(20_000);
  assert.match(JSON.stringify(site.autosaves), /three/);
});

test("a browser that cannot keep the text says so", async () => {
  const { storage, site, clock, view } = world();
  storage.full = true;
  view.type("one");
  await clock.pass(3000);
  assert.equal(view.saver.keep(), false);
  assert.equal(view.saver.isHeld, false);
  site.faults = ["cut"];
  await view.save();
  assert.match(view.text, /cannot keep the text/);
  await clock.pass(5000);
  assert.equal(view.saver.isHeld, true);
});

test("two views keep a copy each, and a removed copy comes back while its view is open", async () => {
  const { site, storage, clock, view } = world();
  const other = new View(site, storage, clock);
  view.type("one");
  other.type("two");
  await clock.pass(3000);
  const third = new View(site, storage, clock);
  const offered = third.copies.others();
  assert.equal(offered.length, 2);
  third.copies.discard(view.copies.id);
  view.saver.lostCopy();
  assert.match(kept(site, storage), /one/);
  view.copies.rename("post-13");
  assert.equal(third.copies.others().length, 1);
  assert.ok(storage.getItem(view.copies.id).includes("one"));
});

test("1,000 rounds of two browsers, cut connections and killed servers lose no word", async () => {
  const random = new Random(30);
  for (let round = 0; round < 1000; round += 1) {
    const site = new FakeServer();
    const clock = new Clock();
    const browsers = [new FakeStorage(), new FakeStorage()];
    const views = browsers.map((storage) => new View(site, storage, clock));
    const words = [];
    for (let n = 0; n < 12; n += 1) {
      const at = random.below(2);
      if (random.chance(0.7)) {
        words.push(`w${round}x${n}`);
        views[at].type(words.at(-1));
      }
      if (random.chance(0.4)) site.faults.push(random.pick(["cut", "lost", 500, 503, 429, 403, null]));
      if (random.chance(0.05)) site.loggedIn = false;
      if (random.chance(0.05)) site.nonce = `n${n}${round}`;
      if (random.chance(0.4)) views[at].save();
      if (random.chance(0.3)) await clock.pass(random.below(30_000));
      if (random.chance(0.15)) {
        // The tab is closed, which keeps the text, or crashes after the copy, and is opened again.
        if (random.chance(0.5)) views[at].saver.keep();
        else await clock.pass(2100);
        views[at].saver.parts.send = () => new Promise(() => {});
        views[at].saver.parts.copy = () => true;
        views[at].saver.parts.removeCopy = () => {};
        views[at] = new View(site, browsers[at], clock);
      }
    }
    // All is well again: both go on, log in, and resolve what differs.
    site.loggedIn = true;
    site.faults = [];
    for (let n = 0; n < 6; n += 1) {
      for (const view of views) {
        await clock.pass(100);
        await view.saver.focused();
        for (const copy of view.copies.others()) {
          // One restores a copy in a view of its own.
          const fresh = new View(site, view.storage, clock);
          fresh.restore(copy);
          await fresh.save();
          await settle();
          if (fresh.conflict) await fresh.resolve();
          await settle();
        }
        await view.save();
        await settle();
        if (view.conflict) await view.resolve();
        await settle();
      }
    }
    for (const word of words) assert.ok(site.post.content.includes(word) || site.history.some((text) => text.includes(word)), `round ${round}: ${word}`);
    for (const word of words) assert.ok(site.post.content.includes(word), `round ${round}: ${word} is in the last version`);
  }
});

test("differences are aligned block by block, and joined as chosen", () => {
  const p = (text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
  const mine = [p("one"), p("two words here"), p("three"), p("five")].join("\n\n");
  const theirs = `${[p("one"), p("two words there"), p("new"), p("three"), p("five")].join("\n")}\n`;
  const compared = compare(mine, theirs);
  const shape = compared.parts.map((part) => (part.equal ? part.equal.length : [part.mine.length, part.theirs.length]));
  assert.deepEqual(shape, [1, [1, 1], [0, 1], 2]);
  assert.equal(join(compared, ["mine", "mine"]), mine);
  assert.equal(join(compared, ["theirs", "theirs"]), [p("one"), p("two words there"), p("new"), p("three")].join("\n").replace(`${p("new")}\n`, `${p("new")}\n\n`) + `\n\n${p("five")}`);
  assert.match(join(compared, ["both", "theirs"]), /here[^]*there[^]*new/);
  const base = [p("one"), p("two words here"), p("three"), p("gone"), p("five")].join("\n\n");
  const differences = compared.parts.filter((part) => !part.equal);
  assert.deepEqual(differences.map((part) => isTheirs(part, base)), [true, true]);
  assert.deepEqual(differences.map((part) => isTheirs(part, theirs)), [false, false], "what I changed is mine");
});

test("random contents are compared and joined without loss", () => {
  const random = new Random(5);
  const make = () => random.times(0, 12, () => `<!-- wp:x {"n":${random.below(6)}} /-->`).join("\n");
  for (let n = 0; n < 2000; n += 1) {
    const [mine, theirs] = [make(), make()];
    const compared = compare(mine, theirs);
    const count = compared.parts.filter((part) => !part.equal).length;
    const blocks = (text) => text.match(/<!--.*?-->/g) ?? [];
    assert.deepEqual(blocks(join(compared, Array(count).fill("mine"))), blocks(mine));
    assert.deepEqual(blocks(join(compared, Array(count).fill("theirs"))), blocks(theirs));
  }
});
