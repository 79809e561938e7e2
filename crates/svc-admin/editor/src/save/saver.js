// When a text is kept in the browser and sent to the server, and what follows from the answers.
//
// At each point the server or the browser has the text; if the browser cannot keep it, `isHeld` says so. This file knows
// no page: `parts` has what it needs.

/** Milliseconds from a change to the copy in this browser, and the most that typing can delay it. */
const COPY = 2000;
const COPY_LATEST = 10_000;
/** Milliseconds from a change to the autosave on the server, and the most that typing can delay it. */
const AUTOSAVE = 15_000;
const AUTOSAVE_LATEST = 60_000;
/** Seconds before each further try. */
const PAUSES = [5, 10, 20, 40, 60];
/** Number of requests without an answer that are remembered. */
const UNANSWERED = 8;

/**
 * @typedef {object} Parts
 * @property {() => [string, string][]} fields of the form, to be sent
 * @property {() => boolean} copy keeps the text in this browser; false if it cannot
 * @property {() => void} removeCopy
 * @property {(fields: [string, string][]) => Promise<import("./server.js").Answer>} send
 * @property {() => Promise<boolean>} renew puts a new nonce into the form; false if the user is logged out; rejects
 *   without an answer
 * @property {(body: Record<string, any>, isAutosave: boolean) => void} accepted takes over what the server answered
 * @property {(body: Record<string, any>) => boolean} invalid shows an error at its field; false if there is no such field
 * @property {(current: Record<string, string>, fields: [string, string][]) => boolean} isStored whether the server's
 *   version is what these fields say
 * @property {(current: Record<string, string>) => void} rebase continues from the server's version
 * @property {(state: State) => void} show
 * @property {{now: () => number, setTimeout: Function, clearTimeout: Function}} clock
 *
 * @typedef {{text: string, tone?: "busy" | "warn", login?: string, view?: string, compare?: Record<string, any>}} State
 */

export class Saver {
  /** Number of changes; and up to which the server, its autosave and the browser have them. */
  version = 0;
  #saved = 0;
  #autosaved = 0;
  #copied = 0;

  #running = false;
  /** The action that is sent when the running request has ended. */
  #next = null;
  /** The action that waits: for the next try, for a log-in, or for the user's choice. */
  #waiting = null;
  /** Why nothing is sent by itself. */
  #blocked = null;
  #tries = 0;
  #renewed = false;
  #timers = {};
  #firstChange = { copy: null, autosave: null };
  #lastAutosave = -Infinity;
  /** What was sent without an answer since the last one: the server may have stored it. */
  #unanswered = [];

  /** @param {Parts} parts */
  constructor(parts) {
    this.parts = parts;
  }

  /** Whether the current text survives when the page is closed. */
  get isHeld() {
    return [this.#saved, this.#autosaved, this.#copied].includes(this.version);
  }

  get isSaved() {
    return this.#saved === this.version;
  }

  /** The text changed. */
  changed() {
    this.version += 1;
    this.#later("copy", COPY, COPY_LATEST, () => this.keep());
    this.#planAutosave();
  }

  /** Keeps the text in this browser now, if it is not saved. */
  keep() {
    this.#clear("copy");
    if (this.isSaved) return true;
    const kept = this.parts.copy();
    if (kept) this.#copied = this.version;
    return kept;
  }

  /** The copy in this browser is gone, because another tab removed it. */
  lostCopy() {
    this.#copied = -1;
    this.keep();
  }

  /** Autosaves at once what the server does not have. Returns whether there is anything. */
  autosaveNow() {
    const isCurrent = this.isSaved || this.#autosaved === this.version;
    if (isCurrent || this.#blocked || this.#timers.retry) return false;
    this.keep();
    this.#send("autosave");
    return true;
  }

  /** Saves now. `action` is what the user chose, such as `save` or `publish`. */
  save(action) {
    this.keep();
    this.#waiting = null;
    if (this.#blocked !== "login") this.#blocked = null;
    return this.#send(action);
  }

  /** The connection is back. */
  online() {
    if (this.#timers.retry) this.#retry();
  }

  /** The window has the focus again, perhaps after a log-in in another one. */
  async focused() {
    if (this.#blocked !== "login" || this.#running) return;
    this.#running = true;
    const ok = await this.parts.renew().catch(() => false);
    this.#running = false;
    if (!ok) return this.#afterwards();
    const action = this.#next ?? this.#waiting ?? "autosave";
    this.#next = null;
    this.#blocked = null;
    this.#renewed = true;
    return this.#send(action);
  }

  // Timers.

  #later(name, delay, latest, run) {
    const { clock } = this.parts;
    this.#firstChange[name] ??= clock.now();
    const longest = this.#firstChange[name] + latest - clock.now();
    clock.clearTimeout(this.#timers[name]);
    this.#timers[name] = clock.setTimeout(() => {
      this.#clear(name);
      run();
    }, Math.max(0, Math.min(delay, longest)));
  }

  #clear(name) {
    this.parts.clock.clearTimeout(this.#timers[name]);
    this.#timers[name] = null;
    this.#firstChange[name] = null;
  }

  #planAutosave() {
    const delay = Math.max(AUTOSAVE, this.#lastAutosave + AUTOSAVE - this.parts.clock.now());
    this.#later("autosave", delay, AUTOSAVE_LATEST, () => {
      const current = this.isSaved || this.#autosaved === this.version;
      if (current || this.#blocked || this.#timers.retry) return;
      this.keep();
      this.#send("autosave");
    });
  }

  // Requests, one at a time.

  async #send(action) {
    if (this.#running) {
      // What the user chose is more than an autosave.
      if (action !== "autosave" || this.#next === null) this.#next = action;
      return;
    }
    this.#clear("retry");
    this.#running = true;
    const { version } = this;
    const isAutosave = action === "autosave";
    if (isAutosave) this.#lastAutosave = this.parts.clock.now();
    else this.#show("Saving…", "busy");
    const fields = this.parts.fields();
    const answer = await this.parts.send([...fields, ["action", action]]);
    this.#running = false;
    if (answer.kind === "later") this.#unanswered = [...this.#unanswered, fields].slice(-UNANSWERED);
    await this.#handle(action, version, answer);
    this.#afterwards();
  }

  #afterwards() {
    if (this.#next === null || this.#running || this.#blocked) return;
    const action = this.#next;
    this.#next = null;
    this.#send(action);
  }

  async #handle(action, version, { kind, body, wait }) {
    if (kind !== "later") this.#tries = 0;
    if (kind === "saved") return this.#accept(action, version, body);
    // From here on the browser has the text, also if it changed meanwhile.
    const kept = this.keep();
    if (kind === "forbidden" && !this.#renewed) return this.#renew(action, body);
    this.#renewed = false;
    if (kind === "later") return this.#pause(action, kept, wait);
    if (kind === "conflict" && this.#unanswered.some((fields) => this.parts.isStored(body.current, fields))) {
      // The stored version is this one's own: its answer was lost.
      this.#unanswered = [];
      this.parts.rebase(body.current);
      return this.#send(action);
    }
    this.#waiting = kind === "login" ? action : null;
    if (kind === "login") {
      this.#blocked = "login";
      return this.#show(body.message || "You are logged out. Your text is kept in this browser.", "warn", { login: body.login ?? "" });
    }
    if (kind === "conflict") {
      this.#blocked = "conflict";
      this.#next = null;
      return this.#show(body.message || "Somebody else changed this post.", "warn", { compare: { ...body, action } });
    }
    if (kind === "forbidden") this.#blocked = "forbidden";
    if (kind === "invalid" && action !== "autosave" && this.parts.invalid(body)) return this.#show("Not saved. Please correct the marked field.", "warn");
    return this.#show(body.message || "Not saved.", "warn");
  }

  #accept(action, version, body) {
    const isAutosave = action === "autosave";
    this.#renewed = false;
    this.#waiting = null;
    this.#blocked = null;
    this.#unanswered = [];
    this.parts.accepted(body, isAutosave);
    if (isAutosave) {
      this.#autosaved = version;
    } else {
      this.#saved = version;
      this.parts.removeCopy();
      this.#copied = -1;
    }
    // What was typed meanwhile is kept, now based on the version that the server has.
    if (version !== this.version) this.keep();
    if (version !== this.version) this.#planAutosave();
    else this.#clear("autosave");
    this.#show(body.message || "Saved.", undefined, isAutosave ? {} : { view: body.status === "publish" ? body.link : undefined });
  }

  async #renew(action, body) {
    this.#renewed = true;
    this.#running = true;
    const renewed = await this.parts.renew().then((ok) => (ok ? "yes" : "no"), () => "unknown");
    this.#running = false;
    if (renewed === "yes") return this.#send(action);
    this.#renewed = false;
    if (renewed === "unknown") return this.#pause(action, this.keep(), 0);
    return this.#handle(action, this.version, { kind: "login", body: { ...body, message: "" }, wait: 0 });
  }

  /** Tries again later. */
  #pause(action, kept, wait) {
    const seconds = Math.max(wait, PAUSES[Math.min(this.#tries, PAUSES.length - 1)]);
    this.#tries += 1;
    // A save that waits is not replaced by an autosave.
    if (action !== "autosave" || this.#waiting === null) this.#waiting = action;
    const { clock } = this.parts;
    clock.clearTimeout(this.#timers.retry);
    this.#timers.retry = clock.setTimeout(() => this.#retry(), seconds * 1000);
    this.#show(`${kept ? "Saved in this browser." : "Not saved: this browser cannot keep the text. Please copy it."} Trying again in ${seconds} s.`, "warn");
  }

  #retry() {
    this.#clear("retry");
    const action = this.#waiting ?? "autosave";
    if (action === "autosave" && this.isSaved) return;
    this.keep();
    this.#send(action);
  }

  #show(text, tone, more = {}) {
    this.parts.show({ text, tone, ...more });
  }
}
