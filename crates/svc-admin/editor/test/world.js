// A world for tests of saving: a clock that tests move, a browser's storage, a server with one post, and views of its page.

import { Copies } from "../src/save/copies.js";
import { compare, join } from "../src/save/diff.js";
import { Saver } from "../src/save/saver.js";
import { Server } from "../src/save/server.js";

export class Clock {
  #now = 1_000_000;
  #timers = new Map();
  #next = 1;

  now = () => this.#now;
  setTimeout = (run, delay) => {
    this.#timers.set(this.#next, { run, at: this.#now + delay });
    return this.#next++;
  };
  clearTimeout = (id) => this.#timers.delete(id);

  /** Moves the time, and lets what is due and what follows from it happen. */
  async pass(milliseconds) {
    const end = this.#now + milliseconds;
    for (;;) {
      await settle();
      const due = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.#now = Math.max(this.#now, due[1].at);
      due[1].run();
    }
    this.#now = end;
    await settle();
  }
}

/** Waits until all that is ready has run. */
export async function settle() {
  for (let n = 0; n < 12; n += 1) await null;
  await new Promise((resolve) => setImmediate(resolve));
}

export class FakeStorage {
  map = new Map();
  full = false;

  get length() {
    return this.map.size;
  }
  key(n) {
    return [...this.map.keys()][n] ?? null;
  }
  getItem(key) {
    return this.map.get(key) ?? null;
  }
  setItem(key, value) {
    if (this.full) throw new Error("QuotaExceededError");
    this.map.set(key, value);
  }
  removeItem(key) {
    this.map.delete(key);
  }
}

/** A server with one post. `faults` are what happens to the next requests: a status, `cut` (no answer, nothing done) or `lost` (done, no answer). */
export class FakeServer {
  post = { title: "", content: "" };
  version = 1;
  autosaves = [];
  requests = [];
  faults = [];
  nonce = "n1";
  loggedIn = true;
  history = [];

  get etag() {
    return `"${this.version}"`;
  }

  fetch = async (url, { method = "GET", body } = {}) => {
    const fault = this.faults.shift();
    if (fault === "cut") throw new TypeError("network error");
    if (typeof fault === "number") return answer(fault, { message: `Status ${fault}.` }, fault === 429 ? { "Retry-After": "30" } : {});
    if (method === "GET") {
      const form = this.loggedIn ? `<form id="post-form"><input name="_wpnonce" value="${this.nonce}"></form>` : "<form></form>";
      return answer(200, form);
    }
    const result = this.#save(new URLSearchParams(String(body)));
    if (fault === "lost") throw new TypeError("connection closed");
    return result;
  };

  #save(form) {
    this.requests.push(form.get("action"));
    if (!this.loggedIn) return answer(401, { message: "You are logged out.", login: "/login" });
    if (form.get("_wpnonce") !== this.nonce) return answer(403, { message: "Too old." });
    if (form.get("slug") === "taken") return answer(400, { message: "Taken.", field: "slug" });
    if (form.get("etag") !== this.etag) return answer(412, { message: "Changed.", current: { ...this.post, etag: this.etag, author: "Ana" } });
    const texts = { title: form.get("title"), content: form.get("content") };
    if (form.get("action") === "autosave") {
      this.autosaves.push(texts);
    } else {
      this.post = texts;
      this.version += 1;
      this.history.push(texts.content);
    }
    return answer(200, { id: 12, status: "draft", etag: this.etag, nonce: this.nonce, message: "Draft saved." });
  }
}

function answer(status, body, headers = {}) {
  return new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
}

/** A view of the page, without its surface. */
export class View {
  static count = 0;

  /** @param {FakeServer} site @param {FakeStorage} storage @param {Clock} clock */
  constructor(site, storage, clock) {
    Object.assign(this, { site, storage, clock });
    this.form = { _wpnonce: site.nonce, etag: site.etag, slug: "", ...site.post };
    this.states = [];
    this.errors = [];
    this.conflict = null;
    this.copies = new Copies(storage, "post-12", `v${View.count++}`, clock.now);
    this.server = new Server({
      url: "/wp-admin/post.php",
      page: () => "/wp-admin/post.php?post=12&action=edit",
      fetch: site.fetch,
      parse: (html) => ({
        getElementById: () => {
          const nonce = /name="_wpnonce" value="([^"]*)"/.exec(html)?.[1];
          return nonce ? { dataset: {}, querySelector: () => ({ value: nonce }) } : null;
        },
      }),
    });
    this.saver = new Saver({
      fields: () => Object.entries(this.form),
      copy: () => this.copies.write(this.fields(), this.form.etag),
      removeCopy: () => this.copies.remove(),
      send: (fields) => this.server.send(fields),
      renew: async () => {
        const fresh = await this.server.renew();
        if (fresh) this.form._wpnonce = fresh.nonce;
        return Boolean(fresh);
      },
      accepted: (body, isAutosave) => {
        if (!isAutosave) this.form.etag = body.etag;
        this.form._wpnonce = body.nonce;
      },
      invalid: (body) => (this.errors.push(body.field), true),
      isStored: (current, fields) => ["title", "content"].every((name) => Object.fromEntries(fields)[name] === current[name]),
      rebase: (current) => (this.form.etag = current.etag),
      show: (state) => {
        this.states.push(state);
        this.conflict = state.compare ?? null;
      },
      clock,
    });
  }

  fields() {
    return [["title", this.form.title], ["content", this.form.content]];
  }

  get text() {
    return this.states.at(-1)?.text ?? "";
  }

  /** Adds a paragraph. */
  type(word) {
    this.form.content += `${this.form.content && "\n\n"}<!-- wp:paragraph -->\n<p>${word}</p>\n<!-- /wp:paragraph -->`;
    this.saver.changed();
  }

  save(action = "save") {
    return this.saver.save(action);
  }

  /** Keeps both versions of each difference of a conflict. */
  resolve() {
    const { current } = this.conflict;
    const compared = compare(this.form.content, current.content);
    this.form.content = join(compared, compared.parts.filter((part) => !part.equal).map(() => "both"));
    this.form.etag = current.etag;
    this.saver.changed();
    return this.save();
  }

  /** Takes over a copy of another view. */
  restore(copy) {
    Object.assign(this.form, Object.fromEntries(copy.fields), { etag: copy.etag });
    this.saver.changed();
    if (this.saver.keep()) this.copies.discard(copy.id);
  }
}

/** All that the server or the browser has. */
export function kept(site, storage) {
  return JSON.stringify([site.post, site.history, site.autosaves, [...storage.map.values()]]);
}
