// The view of a block that contains blocks: its name, what is in its own markup, and the blocks, which are edited in place.

import { Plugin } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { parse } from "../blocks/json.js";
import { split } from "../blocks/pieces.js";
import { schema } from "../model/schema.js";
import { button, el } from "./dom.js";
import { label, preview } from "./preview.js";

const { nodes } = schema;
const SHELLS = new Set([nodes.container, nodes.frame, nodes.gallery, nodes.details]);

export class ShellView {
  /**
   * @param {import("prosemirror-model").Node} node
   * @param {import("prosemirror-view").EditorView} view
   * @param {() => number | undefined} getPos
   * @param {(getPos: () => number | undefined) => void} [addPictures] for a gallery
   */
  constructor(node, view, getPos, addPictures) {
    Object.assign(this, { node });
    this.name = el("span", {}, label(node.attrs.name));
    this.bar = el("div", { className: "editor-shell-bar" }, this.name);
    if (node.type === nodes.gallery && addPictures) this.bar.append(button("Add pictures", () => addPictures(getPos)));
    this.own = el("div", { className: "editor-shell-own" });
    this.contentDOM = el("div", { className: "editor-inside" });
    for (const element of [this.bar, this.own]) element.contentEditable = "false";
    this.dom = el("div", { className: "editor-shell", role: "group", "aria-label": `${label(node.attrs.name)} block`, "data-name": node.attrs.name }, this.bar, this.own, this.contentDOM);
    this.show();
  }

  /** Shows pictures and text that the block's own markup has, and the widths of columns. */
  show() {
    const { name, open, close } = this.node.attrs;
    const own = name === "core/gallery" ? null : preview(name, open + close);
    this.own.replaceChildren(...(own ? [own] : []));
    this.own.hidden = !own;
    if (name === "core/column") {
      const { width } = parse(split(open + close)[0]?.json ?? "") ?? {};
      this.dom.style.flexBasis = typeof width === "string" && /^\d{1,3}(?:\.\d{1,4})?%$/.test(width) ? width : "";
    }
  }

  update(node) {
    if (node.type !== this.node.type || node.attrs.name !== this.node.attrs.name) return false;
    const changed = node.attrs.open !== this.node.attrs.open || node.attrs.close !== this.node.attrs.close;
    this.node = node;
    if (changed) this.show();
    return true;
  }

  stopEvent(event) {
    return event.target instanceof HTMLButtonElement && this.bar.contains(event.target);
  }

  ignoreMutation(mutation) {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }
}

/** Marks the blocks around the cursor, so that one sees where one is. */
export function cursorShells() {
  return new Plugin({
    props: {
      decorations({ doc, selection: { $from } }) {
        const out = [];
        for (let depth = 1; depth <= $from.depth; depth += 1) {
          if (SHELLS.has($from.node(depth).type)) out.push(Decoration.node($from.before(depth), $from.after(depth), { class: "has-cursor" }));
        }
        return out.length > 0 ? DecorationSet.create(doc, out) : null;
      },
    },
  });
}
