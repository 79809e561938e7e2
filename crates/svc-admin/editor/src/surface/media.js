// Lets the user choose images from the site's media, or upload others.

import { button, el } from "./dom.js";

const PER_PAGE = 24;
const SEARCH_DELAY = 300;
const FIELDS = "id,title,alt_text,source_url,media_details";

/**
 * Opens the dialog.
 *
 * @param {object} parts
 * @param {import("./upload.js").Uploads} parts.uploads asks the REST API
 * @param {boolean} parts.several whether more than one can be chosen
 * @param {(media: object[]) => void} parts.chosen
 * @param {() => void} parts.upload is called instead if the user wants to upload files
 */
export function chooseMedia(parts) {
  new Chooser(parts).open();
}

class Chooser {
  #chosen = new Map();
  #page = 1;
  #number = 0;
  #timer = 0;

  constructor(parts) {
    Object.assign(this, parts);
    this.search = el("input", { type: "search", placeholder: "Search", "aria-label": "Search", oninput: () => this.soon() });
    this.grid = el("ul");
    this.state = el("p", { role: "status", className: "editor-media-state" });
    this.more = button("More", () => this.load(this.#page + 1), { hidden: true });
    this.insert = button("Insert", () => this.finish(), { className: "primary", disabled: true, hidden: !this.several });
    this.dialog = el("dialog", { className: "editor-media", "aria-label": this.several ? "Choose images" : "Choose an image", onclose: () => this.closed() },
      this.search, this.grid, this.state,
      el("div", { className: "editor-media-actions" }, this.more, this.insert, button("Upload", () => (this.dialog.close(), this.upload())), button("Close", () => this.dialog.close())));
  }

  open() {
    this.before = document.activeElement;
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.search.focus();
    this.load(1);
  }

  closed() {
    clearTimeout(this.#timer);
    this.dialog.remove();
    this.before?.focus?.();
  }

  soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.load(1), SEARCH_DELAY);
  }

  async load(page) {
    const number = ++this.#number;
    const query = new URLSearchParams({ media_type: "image", per_page: String(PER_PAGE), page: String(page), _fields: FIELDS });
    if (this.search.value.trim() !== "") query.set("search", this.search.value.trim());
    const answer = await this.uploads.read(`media?${query}`);
    // A later search has been sent in the meantime.
    if (number !== this.#number) return;
    this.#page = page;
    if (page === 1) this.grid.replaceChildren();
    this.grid.append(...(answer?.body ?? []).map((media) => this.item(media)));
    this.more.hidden = !answer || page >= answer.pages;
    this.state.textContent = !answer ? "The images could not be loaded." : this.grid.childElementCount === 0 ? "No images found." : "";
  }

  item(media) {
    const sizes = media.media_details?.sizes ?? {};
    const src = (sizes.medium ?? sizes.thumbnail ?? sizes.full ?? media).source_url;
    const name = media.alt_text || media.title?.rendered || `Image ${media.id}`;
    const choose = button(el("img", { src, alt: name, loading: "lazy" }), () => this.toggle(media, choose), this.several ? { "aria-pressed": String(this.#chosen.has(media.id)) } : {});
    return el("li", {}, choose);
  }

  toggle(media, choose) {
    if (!this.several) {
      this.#chosen.set(media.id, media);
      return this.finish();
    }
    if (!this.#chosen.delete(media.id)) this.#chosen.set(media.id, media);
    choose.setAttribute("aria-pressed", String(this.#chosen.has(media.id)));
    this.insert.disabled = this.#chosen.size === 0;
    this.insert.textContent = this.#chosen.size > 1 ? `Insert ${this.#chosen.size} images` : "Insert";
    return undefined;
  }

  finish() {
    this.dialog.close();
    if (this.#chosen.size > 0) this.chosen([...this.#chosen.values()]);
  }
}
