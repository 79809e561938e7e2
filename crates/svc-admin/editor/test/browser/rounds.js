// Two people edit one post in two browsers while the server is killed, the network is cut and pages are left:
//
//     node test/browser/rounds.js PROGRAM [ROUNDS]
//
// PROGRAM is svc-server. Each round both write a word, something fails, and both go on until their text is saved; conflicts are
// answered with "Keep both". No word may be missing in what is stored. CHROMIUM is the browser's path (default /usr/bin/chromium).

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [program, count = "20"] = process.argv.slice(2);
/** A new post after so many rounds, so that the texts stay short. */
const ROUNDS_PER_POST = 20;
/** Milliseconds until both texts must be saved after a failure. */
const PATIENCE = 90_000;

const data = mkdtempSync(join(tmpdir(), "rounds-"));
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
let state = seed || 1;
/** A random number below `n`, from the seed. */
const below = (n) => {
  state = (state * 48271) % 2147483647;
  return Math.floor(state / 7919) % n;
};

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let server = null;

async function start() {
  server = spawn(program, ["--data", data, "--listen", `127.0.0.1:${port}`], { stdio: "ignore" });
  for (let n = 0; n < 300; n += 1) {
    if (await fetch(`${origin}/readyz`).then((response) => response.ok, () => false)) return;
    await sleep(50);
  }
  throw new Error("the server does not start");
}

/** As a power failure would: nothing is told, and nothing finished. */
async function kill() {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGKILL");
  await ended;
}

const run = (...args) => execFileSync(program, ["--data", data, ...args], { encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });

await start();
const password = run("app-password", "create", "admin", "rounds", "--porcelain").trim();
const basic = { Authorization: `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`, "Content-Type": "application/json" };

async function rest(method, route, body) {
  const response = await fetch(`${origin}/svc-json/svc/v2/${route}`, { method, headers: basic, body: body && JSON.stringify(body) });
  assert(response.ok, `${method} ${route}: ${response.status}`);
  return response.json();
}

const people = ["ann", "ben"];
const secret = "a-pass-phrase-of-rounds";
for (const name of people) {
  await rest("POST", "users", { username: name, password: secret, email: `${name}@example.org`, roles: ["editor"] });
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
});

/** A person at a browser. */
class Writer {
  constructor(name, context, page) {
    Object.assign(this, { name, context, page, typed: 0 });
    page.on("dialog", (dialog) => dialog.accept().catch(() => {}));
  }

  static async begin(name) {
    const context = await browser.newContext();
    const writer = new Writer(name, context, await context.newPage());
    const { page } = writer;
    await page.goto(`${origin}/wp-login.php`);
    await page.fill("[name=log]", name);
    await page.fill("[name=pwd]", secret);
    await page.click("#wp-submit");
    await page.waitForURL(/wp-admin/);
    return writer;
  }

  async open(post) {
    this.url = `${origin}/wp-admin/post.php?post=${post}&action=edit`;
    await this.visit();
  }

  /** Opens the post, also while the server is away for a moment, and restores what the browser kept. */
  async visit() {
    for (let n = 0; ; n += 1) {
      try {
        await this.page.goto(this.url);
        await this.page.waitForSelector("html[data-editor=ready]", { timeout: 10_000 });
        break;
      } catch (error) {
        if (n > 60) throw error;
        await sleep(250);
      }
    }
    await this.restore();
  }

  async restore() {
    const button = this.page.locator(".editor-recover button", { hasText: "Restore" }).first();
    if (await button.count()) await button.dispatchEvent("click");
  }

  /** Writes a word in a paragraph of its own at the end. */
  async write(word) {
    // The other one may have saved since.
    if (await this.page.locator("dialog.editor-conflict").count()) await this.settle();
    await this.page.locator(".editor-text").focus();
    await this.page.keyboard.press("Control+End");
    await this.page.keyboard.press("Enter");
    await this.page.keyboard.type(word);
  }

  save() {
    return this.page.keyboard.press("Control+s");
  }

  /** One step towards a saved text. Returns whether it is saved. */
  async proceed() {
    const { page } = this;
    const dialog = page.locator("dialog.editor-conflict");
    if (await dialog.count()) {
      await page.evaluate(() => {
        for (const set of document.querySelectorAll("dialog.editor-conflict .editor-difference")) {
          const both = set.querySelector("input[value=both]");
          const empty = (side) => set.querySelector(`[data-side=${side}]`)?.textContent.includes("(no block)");
          (both ?? set.querySelector(empty("mine") ? "input[value=theirs]" : "input[value=mine]")).checked = true;
        }
      });
      await page.locator("dialog.editor-conflict button.primary").dispatchEvent("click");
      return false;
    }
    const line = await page.textContent("#save-state");
    if (/^(Draft saved|Saved)\b/.test(line.trim())) return true;
    const compare = page.locator("#save-state button", { hasText: "Compare" });
    if (await compare.count()) await compare.dispatchEvent("click");
    else await this.save();
    return false;
  }

  async settle() {
    for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
      if (await this.proceed()) return;
      await sleep(150);
    }
    throw new Error(`${this.name}: not saved: ${await this.page.textContent("#save-state")}`);
  }
}

/** What may happen between writing and saving. */
const FAILURES = {
  async nothing() {},
  async "the server is killed"() {
    await kill();
    await sleep(below(400));
    await start();
  },
  async "the server is killed while it saves"([a, b]) {
    const saving = Promise.all([a.save(), b.save()]);
    await sleep(below(40));
    await kill();
    await saving;
    await sleep(below(400));
    await start();
  },
  async "a network is cut"(writers) {
    const one = writers[below(2)];
    await one.context.setOffline(true);
    await one.save();
    await sleep(below(600));
    await one.context.setOffline(false);
  },
  async "a page is loaded again"(writers) {
    const one = writers[below(2)];
    // The browser keeps a copy when the page is hidden.
    await one.visit();
  },
  async "a tab is closed while the server is away"(writers) {
    const one = writers[below(2)];
    await kill();
    await one.save();
    await sleep(200);
    await one.page.close({ runBeforeUnload: false });
    await start();
    one.page = await one.context.newPage();
    await one.visit();
  },
};
const NAMES = Object.keys(FAILURES);

const seen = Object.fromEntries(NAMES.map((name) => [name, 0]));
let words = 0;
try {
  const writers = [await Writer.begin(people[0]), await Writer.begin(people[1])];
  let post = null;
  let expected = [];
  for (let round = 0; round < Number(count); round += 1) {
    if (round % ROUNDS_PER_POST === 0) {
      post = (await rest("POST", "posts", { title: `Post ${round}`, status: "draft", content: "<!-- wp:paragraph -->\n<p>Begin.</p>\n<!-- /wp:paragraph -->" })).id;
      expected = [];
      for (const writer of writers) await writer.open(post);
    }
    const name = NAMES[below(NAMES.length)];
    for (const writer of writers) {
      const word = `${writer.name}${round}x`;
      await writer.write(word);
      expected.push(word);
    }
    await FAILURES[name](writers);
    seen[name] += 1;
    await Promise.all(writers.map((writer) => writer.save()));
    for (const writer of writers) await writer.settle();
    const { content } = await rest("GET", `posts/${post}?context=edit&_fields=content`);
    const missing = expected.filter((word) => !content.raw.includes(word));
    assert.deepEqual(missing, [], `round ${round} (${name}), seed ${seed}`);
    words += writers.length;
    if ((round + 1) % 50 === 0) console.log(`${round + 1} rounds, ${words} words, none lost`);
  }
  console.log(`${count} rounds, ${words} words, none lost; seed ${seed}`, seen);
} finally {
  await browser.close().catch(() => {});
  server.kill("SIGKILL");
  rmSync(data, { recursive: true, force: true });
}
