// The formats that appear over selected text.

import { Plugin } from "prosemirror-state";
import { toggleMark } from "prosemirror-commands";
import { schema } from "../model/schema.js";
import { setText } from "./commands.js";
import { button, el, float, icon, place } from "./dom.js";
import { editLink } from "./link.js";

const { marks, nodes } = schema;

const BUTTONS = [
  { label: "B", name: "Bold", mark: marks.strong, keys: "Control+B" },
  { label: "I", name: "Italic", mark: marks.em, keys: "Control+I" },
  { label: "Link", name: "Link", icon: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17", mark: marks.link, run: editLink, keys: "Control+K" },
  { label: "<>", name: "Code", mark: marks.code, keys: "Control+E" },
  { label: "S", name: "Strikethrough", mark: marks.strike, keys: "Control+Shift+X" },
  { label: "H", name: "Heading", level: 2 },
];

/** Whether text with the mark is in the selection. */
function isActive(state, type) {
  const { from, to } = state.selection;
  return state.doc.rangeHasMark(from, to, type);
}

export function toolbar() {
  return new Plugin({
    view: (view) => new Toolbar(view),
    props: {
      handleKeyDown: (view, event) => {
        if (event.key !== "F10" || !event.altKey) return false;
        const bar = bars.get(view);
        bar?.buttons[0]?.focus();
        return Boolean(bar) && !bar.box.hidden;
      },
      handleDOMEvents: {
        // It appears when the selection is done.
        mousedown: (view) => (bars.get(view)?.hold(true), false),
        focus: (view) => (bars.get(view)?.update(view), false),
        blur: (view) => (setTimeout(() => bars.get(view)?.update(view)), false),
      },
    },
  });
}

const bars = new WeakMap();

class Toolbar {
  #up = () => this.hold(false);
  #held = false;

  constructor(view) {
    this.view = view;
    bars.set(view, this);
    this.buttons = BUTTONS.map((item, n) =>
      button(item.icon ? icon(item.icon) : item.label, () => this.run(item), {
        "aria-label": item.name, title: item.name, "aria-keyshortcuts": item.keys, tabIndex: n === 0 ? 0 : -1, className: `editor-format-${item.name.toLowerCase()}`,
      }),
    );
    this.box = el("div", { className: "editor-float editor-toolbar", role: "toolbar", "aria-label": "Format", hidden: true, onkeydown: (event) => this.key(event) }, ...this.buttons);
    float(this.box);
    addEventListener("mouseup", this.#up);
  }

  hold(held) {
    if (this.#held === held) return;
    this.#held = held;
    this.update(this.view);
  }

  update(view) {
    if (view.isDestroyed) return;
    const { selection } = view.state;
    const parent = selection.$from.parent;
    const show = !selection.empty && !selection.node && !this.#held && parent.inlineContent && !parent.type.spec.code;
    this.box.hidden = !show || !(view.hasFocus() || this.box.contains(document.activeElement));
    if (this.box.hidden) return;
    for (const [n, item] of BUTTONS.entries()) {
      const pressed = item.mark ? isActive(view.state, item.mark) : parent.type === nodes.heading;
      this.buttons[n].setAttribute("aria-pressed", String(pressed));
    }
    place(this.box, view.coordsAtPos(selection.from), "above");
  }

  run(item) {
    const { state, dispatch } = this.view;
    const isHeading = state.selection.$from.parent.type === nodes.heading;
    const command = item.run ?? (item.mark ? toggleMark(item.mark) : setText(isHeading ? 0 : item.level));
    command(state, dispatch, this.view);
    if (item.run !== editLink) this.view.focus();
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const at = this.buttons.indexOf(document.activeElement);
      this.buttons[(at + step + this.buttons.length) % this.buttons.length].focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      this.view.focus();
    }
  }

  destroy() {
    removeEventListener("mouseup", this.#up);
    this.box.remove();
  }
}
