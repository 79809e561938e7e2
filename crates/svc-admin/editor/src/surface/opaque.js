// The view of a block that is stored as it is: its HTML, its name, and its exact markup as text on request.

import { split } from "../blocks/pieces.js";
import { schema } from "../model/schema.js";
import { button, el } from "./dom.js";
import { label, preview } from "./preview.js";

let opened = null;

/** Replaces the block at a position by a field with its markup. */
export function editAsText(origins) {
  return (pos) => (state, dispatch) => {
    const node = state.doc.nodeAt(pos);
    if (!node) return false;
    const name = { code_block: "code", table: "table" }[node.type.name] ?? node.type.name;
    opened = node.type === schema.nodes.opaque ? node.copy() : schema.nodes.opaque.create({ name: node.attrs.name ?? `core/${name}`, source: origins.markup(node), origin: node.attrs.origin });
    dispatch?.(state.tr.replaceWith(pos, pos + node.nodeSize, opened).setMeta("addToHistory", node.type !== schema.nodes.opaque));
    return true;
  };
}

export class OpaqueView {
  /**
   * @param {import("prosemirror-model").Node} node
   * @param {import("prosemirror-view").EditorView} view
   * @param {() => number | undefined} getPos
   * @param {import("../model/document.js").Origins} origins
   */
  constructor(node, view, getPos, origins) {
    Object.assign(this, { node, view, getPos, origins });
    this.name = el("span", { className: "editor-opaque-name" });
    this.edit = button("Edit as text", () => this.open(), { onmousedown: null });
    this.bar = el("div", { className: "editor-opaque-bar" }, this.name, this.edit);
    this.body = el("div", { className: "editor-opaque-body" });
    this.dom = el("div", { className: "editor-opaque", role: "group" }, this.bar, this.body);
    this.dom.contentEditable = "false";
    this.show();
    if (node === opened) queueMicrotask(() => this.open());
  }

  show() {
    const { name, source } = this.node.attrs;
    const title = label(name);
    this.name.textContent = title;
    this.dom.setAttribute("aria-label", `${title} block`);
    const shown = preview(name, source);
    this.body.replaceChildren(shown ?? el("p", { className: "editor-opaque-empty" }, `${title}: shown on the site`));
  }

  /** Replaces the preview by a field with the markup. What is typed is in the document at once. */
  open() {
    const before = this.node.attrs.source;
    this.field = el("textarea", { value: before, spellcheck: false, "aria-label": "Markup of the block", oninput: () => this.set(this.field.value), onkeydown: (event) => event.key === "Escape" && this.close() });
    this.message = el("p", { className: "editor-error", role: "alert" });
    const actions = el("div", { className: "editor-opaque-bar" },
      button("Done", () => this.close(), { onmousedown: null }),
      button("Cancel", () => this.cancel(before), { onmousedown: null }));
    this.edit.hidden = true;
    this.body.replaceChildren(this.field, this.message, actions);
    this.field.style.height = `${Math.min(this.field.scrollHeight + 4, innerHeight * 0.7)}px`;
    this.field.focus();
    this.field.setSelectionRange(0, 0);
  }

  set(source) {
    const pos = this.getPos();
    if (pos === undefined || source === this.node.attrs.source) return;
    this.view.dispatch(this.view.state.tr.setNodeMarkup(pos, null, { ...this.node.attrs, source }));
  }

  /** Reads the markup anew: it may be several blocks now, or ones that can be edited. */
  close() {
    const pieces = split(this.field.value);
    if (pieces.some((piece) => !piece.whole)) {
      this.message.textContent = "A block comment has no counterpart. Each <!-- wp:name --> needs its <!-- /wp:name -->.";
      return;
    }
    const pos = this.getPos();
    const source = this.node.attrs.source;
    const read = this.origins.readAgain(this.node) ?? this.origins.read(source);
    this.leave();
    const isSame = read.length === 1 && read[0].type === this.node.type && read[0].attrs.name === this.node.attrs.name;
    if (pos === undefined || isSame) return;
    const { tr, doc } = this.view.state;
    const nodes = read.length > 0 || doc.childCount > 1 ? read : [schema.nodes.paragraph.create()];
    this.view.dispatch(tr.replaceWith(pos, pos + this.node.nodeSize, nodes));
  }

  cancel(before) {
    this.field.value = before;
    this.set(before);
    this.close();
  }

  leave() {
    this.field = null;
    this.edit.hidden = false;
    this.show();
    this.view.focus();
  }

  update(node) {
    if (node.type !== this.node.type) return false;
    const changed = node.attrs.source !== this.node.attrs.source || node.attrs.name !== this.node.attrs.name;
    this.node = node;
    if (!changed) return true;
    if (!this.field) this.show();
    else if (this.field.value !== node.attrs.source) this.field.value = node.attrs.source;
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

  ignoreMutation() {
    return true;
  }
}
