// Joins the editor, the form and the saving of a page.

import { Copies } from "./save/copies.js";
import { resolveConflict } from "./save/conflict.js";
import * as fields from "./save/fields.js";
import { Pictures } from "./save/pictures.js";
import { offer, offerPictures } from "./save/recover.js";
import { Saver } from "./save/saver.js";
import { Server, nonceField } from "./save/server.js";
import { clearErrors, fieldError, statusLine } from "./save/status.js";
import { el } from "./surface/dom.js";
import { Editor } from "./surface/editor.js";
import { Uploads } from "./surface/upload.js";

/** Milliseconds without typing after which the form gets the content. It always has it before it is read. */
const WRITE_BACK = 300;

/**
 * Sets up the editor of a page with its form.
 *
 * @param {HTMLFormElement} form
 */
export function start(form) {
  const begin = performance.now();
  new Page(form);
  performance.measure("editor-open", { start: begin });
}

/** Values of the buttons that save. */
const SAVES = new Set(["save", "publish", "submit"]);

class Page {
  #writeBack = 0;
  /** Texts of the last request. */
  sent = {};
  #isRestoring = false;
  /** Closes the dialog with two versions, if it is open. */
  #comparison = null;

  constructor(form) {
    this.form = form;
    this.textarea = form.querySelector("textarea[data-editor]");
    this.title = form.elements.namedItem("title");
    this.restNonce = form.dataset.restNonce ?? "";
    this.show = statusLine(document.getElementById("save-state") ?? el("p"), (body) => this.conflict(body));

    this.server = new Server({
      // The property is hidden by the buttons of that name.
      url: form.getAttribute("action"),
      page: () => location.href,
      fetch: (url, options) => window.fetch(url, options),
      parse: (html) => new DOMParser().parseFromString(html, "text/html"),
      user: form.dataset.user ?? "",
    });
    const view = randomName();
    this.copies = new Copies(storage(), form.dataset.key ?? "", view, Date.now);
    this.pictures = new Pictures({ database: window.indexedDB, locks: window.navigator.locks, key: this.pictureKey(), view, now: Date.now });
    this.uploads = new Uploads({
      rest: form.dataset.rest ?? "",
      nonceHeader: form.dataset.nonceHeader ?? "X-WP-Nonce",
      nonce: () => this.restNonce,
      renewNonce: () => this.renewRestNonce(),
      maxSize: Number(form.dataset.maxUpload) || 0,
      pictures: this.pictures,
    });
    this.saver = new Saver({
      fields: () => ((this.sent = this.texts()), this.withContent(fields.readAll(form))),
      copy: () => this.copies.write(this.withContent(fields.readPost(form)), this.hidden("etag")),
      removeCopy: () => this.copies.remove(),
      send: (list) => this.server.send(list),
      renew: () => this.renew(),
      accepted: (body, isAutosave) => this.accepted(body, isAutosave),
      invalid: (body) => typeof body.field === "string" && fieldError(form, body.field, body.message ?? "", { content: this.editor.view.dom }),
      isStored,
      rebase: (current) => this.rebase(current),
      show: (state) => {
        this.show(state);
        if (state.compare && state.compare.action !== "autosave") this.conflict(state.compare);
      },
      clock: { now: Date.now, setTimeout: (...args) => setTimeout(...args), clearTimeout: (timer) => clearTimeout(timer) },
    });

    this.mount();
    this.listen();
    this.base = { ...this.texts(), content: this.textarea.defaultValue };
    this.offerCopies();
    this.offerPictures();
    if (this.content !== this.textarea.defaultValue) this.saver.changed();
    document.documentElement.dataset.editor = "ready";
  }

  mount() {
    // The value of a textarea has no carriage returns, its text has them. The value differs if somebody typed already.
    const { value, defaultValue } = this.textarea;
    const content = defaultValue.replace(/\r\n?/g, "\n") === value ? defaultValue : value;
    const mount = el("div", { className: "editor" });
    const label = this.form.querySelector(`label[for="${this.textarea.id}"]`)?.textContent.trim() || "Content";
    this.content = content;
    this.editor = new Editor({
      mount,
      content,
      labelledBy: label,
      lang: this.form.lang || document.documentElement.lang,
      uploads: this.uploads,
      onChange: () => this.changed(),
      toTitle: () => (this.title?.focus(), Boolean(this.title)),
      say: (text) => this.show({ text, tone: "warn" }),
    });
    // Without an editor, the field stays.
    this.textarea.after(mount);
    this.textarea.hidden = true;
    if (this.title instanceof HTMLTextAreaElement) this.fitTitle();
  }

  /** The title is as high as its text, and Enter continues in the content. */
  fitTitle() {
    const { title } = this;
    const fit = () => {
      title.style.height = "auto";
      title.style.height = `${title.scrollHeight}px`;
    };
    title.addEventListener("input", fit);
    title.addEventListener("change", fit);
    // Its lines change with its width: that of the window, or beside the preview.
    let width = title.clientWidth;
    const watch = new ResizeObserver(() => {
      if (title.clientWidth === width) return;
      width = title.clientWidth;
      fit();
    });
    watch.observe(title);
    title.addEventListener("keydown", (event) => {
      const atEnd = title.selectionStart === title.value.length;
      if (event.isComposing || (event.key !== "Enter" && !(event.key === "ArrowDown" && atEnd))) return;
      event.preventDefault();
      this.editor.focusStart();
    });
    fit();
  }

  listen() {
    const { form, saver } = this;
    for (const type of ["input", "change"]) {
      form.addEventListener(type, (event) => {
        if (event.target.name && event.target !== this.textarea && !this.#isRestoring) saver.changed();
      });
    }
    form.addEventListener("submit", (event) => this.submit(event));
    // Prevented if there was nothing to save.
    form.addEventListener("editor:autosave", (event) => saver.autosaveNow() || event.preventDefault());
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s") {
        event.preventDefault();
        // The buttons of the dialog decide what is saved.
        if (this.#comparison) return;
        clearErrors(form);
        saver.save("save");
      }
    });
    addEventListener("online", () => saver.online());
    addEventListener("focus", () => saver.focused());
    document.addEventListener("visibilitychange", () => (document.hidden ? saver.keep() : saver.focused()));
    addEventListener("pagehide", () => saver.keep());
    addEventListener("storage", (event) => event.key === this.copies.id && event.newValue === null && saver.lostCopy());
    addEventListener("beforeunload", (event) => {
      this.writeBack();
      if ((saver.keep() || saver.isHeld) && !this.uploads.isAtRisk) return;
      event.preventDefault();
    });
  }

  /** Buttons named `action` save by script; others submit the form. */
  submit(event) {
    this.writeBack();
    const button = event.submitter;
    if (button && (button.name !== "action" || button.hasAttribute("formaction") || button.hasAttribute("formtarget"))) return;
    // Other actions lead to another page.
    if (button && !SAVES.has(button.value)) return;
    event.preventDefault();
    clearErrors(this.form);
    this.saver.save(button?.value || "save");
  }

  changed() {
    clearTimeout(this.#writeBack);
    this.#writeBack = setTimeout(() => this.writeBack(), WRITE_BACK);
    if (!this.#isRestoring) this.saver.changed();
  }

  /** Puts the content into the form. */
  writeBack() {
    clearTimeout(this.#writeBack);
    if (this.editor) this.textarea.value = this.editor.content;
  }

  /** Fields with the content as it is: the value of a textarea has no carriage returns. */
  withContent(list) {
    const { content } = this.editor;
    return list.map(([name, value]) => [name, name === this.textarea.name ? content : value]);
  }

  hidden(name) {
    return this.form.elements.namedItem(name)?.value ?? "";
  }

  setHidden(name, value) {
    const field = this.form.elements.namedItem(name);
    if (field && value !== undefined && value !== null) field.value = String(value);
  }

  setNonce(value) {
    const field = nonceField(this.form);
    if (field && value) field.value = value;
  }

  /** The texts that a conflict compares. */
  texts() {
    const out = { title: this.title?.value ?? "", content: this.editor.content };
    const excerpt = this.form.elements.namedItem("excerpt");
    if (excerpt) out.excerpt = excerpt.value;
    return out;
  }

  accepted(body, isAutosave) {
    // The autosave of an own draft changes the draft; that of other posts returns the tag that the form has.
    if (body.etag !== this.hidden("etag")) this.base = this.sent;
    this.setHidden("etag", body.etag);
    // What the next save is compared with: fields that the user has not changed are not stored.
    this.setHidden("opened", body.opened);
    this.setNonce(body.nonce);
    if (body.id) {
      this.setHidden("post", body.id);
      this.copies.rename(body.key ?? `post-${body.id}`);
      this.form.dataset.key = this.copies.key;
      this.pictures.rename(this.pictureKey());
    }
    if (typeof body.edit === "string" && body.edit !== "") {
      const url = new URL(body.edit, location.href);
      if (url.origin === location.origin && url.href !== location.href) history.replaceState(history.state, "", url);
    }
    if (!isAutosave) {
      clearErrors(this.form);
      if (body.modified) this.form.dataset.modified = body.modified;
      if (body.status) this.form.dataset.status = body.status;
    }
    this.form.dispatchEvent(new CustomEvent("editor:saved", { bubbles: true, detail: { ...body, isAutosave } }));
  }

  async renew() {
    const fresh = await this.server.renew();
    if (!fresh) return false;
    this.setNonce(fresh.nonce);
    if (fresh.restNonce) this.restNonce = fresh.restNonce;
    return true;
  }

  async renewRestNonce() {
    const response = await fetch(this.form.dataset.nonceUrl, { credentials: "same-origin", cache: "no-store" });
    const text = (await response.text()).trim();
    if (!response.ok || !/^[\w-]{1,64}$/.test(text) || text === "0" || text === "-1") return false;
    this.restNonce = text;
    return true;
  }

  rebase(current) {
    this.setHidden("etag", current.etag);
    this.base = { ...this.base, title: current.title, content: current.content };
  }

  /** Lets the user choose between two versions, and saves the result. */
  async conflict({ current, action }) {
    // A newer version takes the place of the one that is shown.
    this.#comparison?.abort();
    const comparison = new AbortController();
    this.#comparison = comparison;
    const chosen = await resolveConflict(this.texts(), current, this.base, comparison.signal);
    if (this.#comparison === comparison) this.#comparison = null;
    if (!chosen) return;
    if (this.title) this.title.value = chosen.title;
    this.title?.dispatchEvent(new Event("change", { bubbles: true }));
    const excerpt = this.form.elements.namedItem("excerpt");
    if (excerpt && chosen.excerpt !== undefined) excerpt.value = chosen.excerpt;
    if (chosen.content !== this.editor.content) this.editor.content = chosen.content;
    this.base = { title: current.title, content: current.content, excerpt: current.excerpt };
    this.setHidden("etag", current.etag);
    this.saver.changed();
    this.saver.save(action === "autosave" ? "save" : action);
    this.editor.focus();
  }

  /** Offers what this browser kept of the post in other views of the page. */
  offerCopies() {
    const stored = fields.readPost(this.form);
    const copies = this.copies.others().filter((copy) => {
      if (!fields.equal(copy.fields, stored)) return true;
      this.copies.discard(copy.id);
      return false;
    });
    offer(this.form, copies, this.hidden("etag"), (copy) => this.restore(copy), (copy) => this.copies.discard(copy.id));
  }

  /** Pictures belong to the user and the post. */
  pictureKey() {
    return `${this.form.dataset.user ?? ""}:${this.form.dataset.key ?? ""}`;
  }

  /** Offers pictures that were not uploaded when an earlier view of the page was left. */
  async offerPictures() {
    const left = await this.pictures.left();
    if (left.length === 0) return;
    offerPictures(this.form, left, async () => {
      this.editor.addAgain(left.map(({ file }) => file));
      await this.uploads.keeping;
      this.pictures.discard(left);
    }, () => this.pictures.discard(left));
  }

  restore(copy) {
    this.#isRestoring = true;
    fields.write(this.form, copy.fields);
    const content = copy.fields.find(([name]) => name === this.textarea.name)?.[1];
    if (content !== undefined) this.editor.content = content;
    this.#isRestoring = false;
    // A copy of an older version leads to a conflict, in which the user chooses.
    if (copy.etag) this.setHidden("etag", copy.etag);
    this.saver.changed();
    if (this.saver.keep()) this.copies.discard(copy.id);
    this.editor.focus();
  }
}

/** Whether the stored version has the texts of fields. */
function isStored(current, list) {
  const sent = new Map(list);
  return ["title", "content", "excerpt"].every(
    (name) => !sent.has(name) || current?.[name] === undefined || sent.get(name).replace(/\r\n?/g, "\n") === current[name].replace(/\r\n?/g, "\n"),
  );
}

function storage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

function randomName() {
  return Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
}
