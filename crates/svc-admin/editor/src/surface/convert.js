// Offers to make blocks of a post that has none.

import { closeHistory } from "prosemirror-history";
import { Plugin, Selection } from "prosemirror-state";
import { schema } from "../model/schema.js";
import { convert } from "./classic.js";
import { button, el } from "./dom.js";

const { nodes } = schema;

/** The only block of a post, if that is text outside blocks. */
function classicOf(doc) {
  const [first, ...more] = doc.children;
  const isClassic = first.type === nodes.opaque && first.attrs.name === null;
  return isClassic && more.every((node) => node.type === nodes.paragraph && node.childCount === 0) ? first : null;
}

/** @param {HTMLElement} mount in which the bar is shown, above the text */
export function offerConversion(mount) {
  return new Plugin({ view: (view) => new Offer(view, mount) });
}

class Offer {
  constructor(view, mount) {
    this.view = view;
    this.bar = el("div", { className: "editor-recover", role: "region", "aria-label": "Classic text", hidden: true },
      el("span", {}, "This post has no blocks. As blocks, its text can be edited here."),
      button("Convert to blocks", () => this.run(), { onmousedown: null }));
    mount.prepend(this.bar);
    this.update(view);
  }

  update(view, before) {
    if (before && before.doc === view.state.doc) return;
    const classic = classicOf(view.state.doc);
    if (classic !== this.classic) {
      this.classic = classic;
      this.blocks = classic && convert(classic.attrs.source);
    }
    this.bar.hidden = !this.blocks;
  }

  run() {
    const { tr } = this.view.state;
    closeHistory(tr).replaceWith(0, tr.doc.content.size, this.blocks);
    this.view.dispatch(tr.setSelection(Selection.atStart(tr.doc)).scrollIntoView());
    this.view.focus();
  }

  destroy() {
    this.bar.remove();
  }
}
