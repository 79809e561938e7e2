// The field for the URL of a link.

import { Plugin, PluginKey, TextSelection } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { schema } from "../model/schema.js";
import { button, el, float, place } from "./dom.js";

const { link } = schema.marks;
const key = new PluginKey("link");

/** The link at the selection and its extent, or null. */
export function linkAt(state) {
  const { $from, from, to, empty } = state.selection;
  const mark = link.isInSet($from.marks()) ?? (empty ? null : link.isInSet($from.nodeAfter?.marks ?? []));
  if (!mark || !$from.parent.inlineContent) return null;
  let found = null;
  let start = null;
  // The text with the same link around the selection.
  $from.parent.forEach((node, offset) => {
    const pos = $from.start() + offset;
    if (mark.isInSet(node.marks)) {
      start ??= pos;
      const end = pos + node.nodeSize;
      if (start <= from && end >= Math.min(to, from)) found = { mark, from: start, to: end };
    } else {
      start = null;
    }
  });
  return found;
}

/** Opens the field. */
export const editLink = (state, dispatch) => {
  if (!state.selection.$from.parent.inlineContent || !state.selection.$from.parent.type.allowsMarkType(link)) return false;
  if (state.selection.empty && !linkAt(state)) {
    // Without a selection the word at the cursor becomes the link.
    const { $from } = state.selection;
    const before = /[^\s\ufffc]*$/.exec($from.parent.textBetween(0, $from.parentOffset, null, "\ufffc"))[0].length;
    const after = /^[^\s\ufffc]*/.exec($from.parent.textBetween($from.parentOffset, $from.parent.content.size, null, "\ufffc"))[0].length;
    if (before + after === 0) return false;
    dispatch?.(state.tr.setSelection(TextSelection.create(state.doc, $from.pos - before, $from.pos + after)).setMeta(key, "open"));
    return true;
  }
  dispatch?.(state.tr.setMeta(key, "open"));
  return true;
};

/** A URL as people type it: a host gets a scheme, and an address `mailto:`. Null for what is no link. */
export function asUrl(text) {
  const typed = text.trim();
  if (typed === "" || /^(?:javascript|data|vbscript):/i.test(typed.replace(/[\u0000-\u0020]/g, ""))) return null;
  if (/^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/.test(typed)) return `mailto:${typed}`;
  if (/^(?:[a-z][a-z0-9+.-]*:|[/#?.])/i.test(typed)) return typed;
  return /^[^\s/]+\.[^\s]+$/.test(typed) ? `https://${typed}` : typed;
}

export function linkField() {
  return new Plugin({
    key,
    state: {
      init: () => false,
      apply: (tr, open) => {
        const meta = tr.getMeta(key);
        return meta ? meta === "open" : open && !tr.docChanged;
      },
    },
    props: {
      // The text stays marked while the field has the focus.
      decorations(state) {
        const { from, to, empty } = state.selection;
        return key.getState(state) && !empty ? DecorationSet.create(state.doc, [Decoration.inline(from, to, { class: "editor-marked" })]) : null;
      },
      handleClick(view, _pos, event) {
        // Links do not lead away from the text; with Ctrl they open.
        const anchor = event.target.closest?.("a[href]");
        if (!anchor || !(event.ctrlKey || event.metaKey) || !/^(?:https?|mailto):$/.test(anchor.protocol)) return false;
        window.open(anchor.href, "_blank", "noopener");
        return true;
      },
    },
    view: (view) => new Field(view),
  });
}

class Field {
  constructor(view) {
    this.view = view;
    this.input = el("input", {
      type: "text", inputMode: "url", placeholder: "Paste or type a URL", "aria-label": "URL of the link", spellcheck: false,
      onkeydown: (event) => this.onKey(event),
    });
    this.remove = button("Remove", () => this.apply(null));
    this.box = el("div", { className: "editor-float editor-link", role: "dialog", "aria-label": "Link", hidden: true },
      this.input, button("Apply", () => this.apply(this.input.value)), this.remove);
    this.box.addEventListener("focusout", (event) => {
      if (!this.box.contains(event.relatedTarget) && event.relatedTarget !== null) this.close(false);
    });
    float(this.box);
  }

  update(view, before) {
    const open = key.getState(view.state);
    if (open === key.getState(before)) return;
    this.box.hidden = !open;
    if (!open) return;
    const at = linkAt(view.state);
    this.input.value = at?.mark.attrs.href ?? "";
    this.remove.hidden = !at;
    place(this.box, view.coordsAtPos(view.state.selection.from), "below");
    this.input.focus();
    this.input.select();
  }

  onKey(event) {
    if (event.key === "Enter") this.apply(this.input.value);
    else if (event.key === "Escape") this.close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  apply(text) {
    const { state } = this.view;
    const at = linkAt(state);
    const [from, to] = at ? [at.from, at.to] : [state.selection.from, state.selection.to];
    const href = text === null ? null : asUrl(text);
    const tr = state.tr.removeMark(from, to, link);
    if (href !== null) tr.addMark(from, to, link.create({ href, rest: at?.mark.attrs.rest ?? "" }));
    this.view.focus();
    this.view.dispatch(tr.setMeta(key, "close"));
  }

  close(focus) {
    if (focus) this.view.focus();
    this.view.dispatch(this.view.state.tr.setMeta(key, "close"));
  }

  destroy() {
    this.box.remove();
  }
}
