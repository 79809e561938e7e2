// The view of an embed: a card with the title, which the server asks the provider for. The page asks no other host.

import { NodeSelection, TextSelection } from "prosemirror-state";
import { stringify } from "../blocks/json.js";
import { providerOf } from "../blocks/providers.js";
import { schema } from "../model/schema.js";
import { button, el } from "./dom.js";
import { asUrl } from "./link.js";

const { nodes, marks } = schema;

/** Aspect ratios that have a class, widest first. */
const RATIOS = [[21, 9], [18, 9], [16, 9], [4, 3], [1, 1], [9, 16], [1, 2]];

/**
 * Attributes of an embed as the block editor stores them.
 *
 * @param {string} url
 * @param {{name: string, type: string}} provider
 * @param {[number, number] | null} ratio
 */
export function embedAttrs(url, { name, type }, ratio) {
  const className = ratio ? `wp-embed-aspect-${ratio[0]}-${ratio[1]} wp-has-aspect-ratio` : "";
  const attrs = { url, type, providerNameSlug: name, responsive: true, ...(ratio ? { className } : {}) };
  return { url, json: stringify(attrs), html: ` class="wp-block-embed is-type-${type} is-provider-${name} wp-block-embed-${name}${className && ` ${className}`}"` };
}

/** The node for a URL of a known provider, or null. Its attributes are those of most of the provider's embeds until the server knows more. */
export function newEmbed(url) {
  const provider = providerOf(url);
  return provider && nodes.embed.create({ ...embedAttrs(url, provider, provider.type === "video" ? [16, 9] : null), isNew: true });
}

/** What providers answered, by URL. */
const answers = new Map();

export class EmbedView {
  /**
   * @param {import("prosemirror-model").Node} node
   * @param {import("prosemirror-view").EditorView} view
   * @param {() => number | undefined} getPos
   * @param {import("./upload.js").Uploads} uploads asks the REST API
   */
  constructor(node, view, getPos, uploads) {
    Object.assign(this, { node, view, getPos, uploads });
    this.card = el("div", { className: "editor-embed-card", onclick: () => this.select() });
    this.card.contentEditable = "false";
    this.contentDOM = el("figcaption", { "data-placeholder": "Caption" });
    this.dom = el("figure", { className: "editor-embed" }, this.card, this.contentDOM);
    this.show();
    if (node.attrs.url !== "") this.whenSeen(() => this.load());
  }

  show() {
    const { url } = this.node.attrs;
    this.contentDOM.classList.toggle("is-empty", this.node.childCount === 0);
    this.contentDOM.hidden = url === "";
    if (url === "") return this.ask();
    const answer = answers.get(url);
    const host = /^https?:\/\/([^/?#]+)/.exec(url)?.[1].replace(/^www\./, "") ?? "";
    const title = typeof answer?.title === "string" && answer.title !== "" ? answer.title : url;
    const name = typeof answer?.provider_name === "string" && answer.provider_name !== "" ? answer.provider_name : host;
    this.card.replaceChildren(
      el("span", { className: "editor-embed-name" }, typeof answer?.author_name === "string" && answer.author_name !== "" ? `${name}, ${answer.author_name}` : name),
      el("strong", { className: "editor-embed-title" }, title),
      ...(title === url ? [] : [el("span", { className: "editor-embed-url" }, url)]),
    );
    return undefined;
  }

  /** A field for the URL of a new embed. */
  ask() {
    if (this.field) return;
    this.field = el("input", { type: "text", inputMode: "url", placeholder: "Paste a link", "aria-label": "URL to embed", onkeydown: (event) => this.key(event) });
    this.card.replaceChildren(this.field, button("Embed", () => this.finish(), { onmousedown: null }));
    // After the text has the focus again.
    queueMicrotask(() => this.field?.focus());
  }

  key(event) {
    if (event.key === "Enter") this.finish();
    else if (event.key === "Escape") this.replace(nodes.paragraph.create());
    else return;
    event.preventDefault();
  }

  /** Takes the URL: of a provider that is not known it is a link. */
  finish() {
    const url = asUrl(this.field.value);
    if (url === null) return;
    this.field = null;
    this.replace(newEmbed(url) ?? nodes.paragraph.create(null, schema.text(url, [marks.link.create({ href: url })])));
  }

  replace(node) {
    const pos = this.getPos();
    if (pos === undefined) return;
    const tr = this.view.state.tr.replaceWith(pos, pos + this.node.nodeSize, node);
    const after = pos + node.nodeSize;
    if (node.type === nodes.paragraph) tr.setSelection(TextSelection.create(tr.doc, after - 1));
    else if (!tr.doc.resolve(after).nodeAfter) tr.insert(after, nodes.paragraph.create());
    if (node.type !== nodes.paragraph) tr.setSelection(NodeSelection.create(tr.doc, pos));
    this.view.dispatch(tr);
    this.view.focus();
  }

  /** Calls back when the card comes into view. */
  whenSeen(callback) {
    if (typeof IntersectionObserver !== "function") return;
    this.observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      this.observer.disconnect();
      callback();
    });
    this.observer.observe(this.dom);
  }

  async load() {
    const { url } = this.node.attrs;
    if (!answers.has(url)) {
      const answer = await this.uploads.read(`../../oembed/1.0/proxy?${new URLSearchParams({ url })}`);
      if (answer?.body && typeof answer.body === "object") answers.set(url, answer.body);
    }
    if (url !== this.node.attrs.url || !answers.has(url)) return;
    this.show();
    this.refine(answers.get(url));
  }

  /** A new embed gets the type and the aspect ratio that the provider answered. */
  refine({ type, html }) {
    const { url, isNew } = this.node.attrs;
    const provider = providerOf(url);
    const pos = this.getPos();
    if (!isNew || !provider || pos === undefined) return;
    const known = ["video", "rich", "photo", "link"].includes(type) ? type : provider.type;
    const attrs = embedAttrs(url, { ...provider, type: known }, typeof html === "string" ? ratioOf(html) : null);
    if (attrs.json === this.node.attrs.json) return;
    const { selection, tr } = this.view.state;
    tr.setNodeMarkup(pos, null, { ...this.node.attrs, ...attrs, isNew: false }).setMeta("addToHistory", false);
    if (selection instanceof NodeSelection && selection.from === pos) tr.setSelection(NodeSelection.create(tr.doc, pos));
    this.view.dispatch(tr);
  }

  select() {
    const pos = this.getPos();
    if (pos !== undefined && !this.field) this.view.dispatch(this.view.state.tr.setSelection(NodeSelection.create(this.view.state.doc, pos)));
  }

  update(node) {
    if (node.type !== this.node.type) return false;
    const before = this.node;
    this.node = node;
    if (node.attrs.url !== "") this.field = null;
    this.show();
    if (node.attrs.url !== before.attrs.url) this.whenSeen(() => this.load());
    return true;
  }

  selectNode() {
    this.dom.classList.add("ProseMirror-selectednode");
  }

  deselectNode() {
    this.dom.classList.remove("ProseMirror-selectednode");
  }

  stopEvent(event) {
    return event.target === this.field || event.target instanceof HTMLButtonElement;
  }

  ignoreMutation(mutation) {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }

  destroy() {
    this.observer?.disconnect();
  }
}

/** The aspect ratio of a frame as the block editor finds it, or null. */
export function ratioOf(html) {
  const [width, height] = ["width", "height"].map((name) => Number(new RegExp(`<iframe[^>]*\\s${name}=["']?(\\d+)["'\\s>]`, "i").exec(html)?.[1]));
  if (!(width > 0 && height > 0)) return null;
  // The first one that is not wider, if it is near.
  const found = RATIOS.find(([x, y]) => width / height >= x / y);
  return found && width / height - found[0] / found[1] <= 0.1 ? found : null;
}
