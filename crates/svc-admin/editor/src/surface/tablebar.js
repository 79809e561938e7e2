// The bar of a table, which appears above the table that has the cursor.

import { closeHistory } from "prosemirror-history";
import { Plugin } from "prosemirror-state";
import { CellSelection, isInTable, selectedRect } from "prosemirror-tables";
import { attribute } from "../blocks/html.js";
import { button, el, float, icon, place } from "./dom.js";
import { alignColumns, insertColumn, insertRow, mergeOrSplit, removeColumns, removeRows, tableDepth, toggleSection } from "./table.js";

const BUTTONS = [
  { name: "Add row above", icon: "M3 13h18v7H3zM12 3v6M9 6h6", run: insertRow(-1) },
  { name: "Add row below", icon: "M3 4h18v7H3zM12 15v6M9 18h6", run: insertRow(1) },
  { name: "Delete row", icon: "M3 4h18v7H3zM9 18h6", run: removeRows },
  { name: "Add column before", icon: "M13 3h7v18h-7zM3 12h6M6 9v6", run: insertColumn(-1) },
  { name: "Add column after", icon: "M4 3h7v18H4zM15 12h6M18 9v6", run: insertColumn(1) },
  { name: "Delete column", icon: "M4 3h7v18H4zM15 12h6", run: removeColumns },
  { name: "Header row", icon: "M3 4h18v16H3zM3 10h18M4 6h16M4 8h16", run: toggleSection("head"), pressed: (rect) => rect.table.firstChild.attrs.section === "head" },
  { name: "Footer row", icon: "M3 4h18v16H3zM3 14h18M4 16h16M4 18h16", run: toggleSection("foot"), pressed: (rect) => rect.table.lastChild.attrs.section === "foot" },
  { name: "Align left", icon: "M4 6h16M4 12h9M4 18h13", run: alignColumns("left"), pressed: isAligned("left") },
  { name: "Align center", icon: "M4 6h16M8 12h8M6 18h12", run: alignColumns("center"), pressed: isAligned("center") },
  { name: "Align right", icon: "M4 6h16M11 12h9M7 18h13", run: alignColumns("right"), pressed: isAligned("right") },
  { name: "Merge or split cells", icon: "M3 5h18v14H3zM12 5v4M12 15v4M7 12h10", run: mergeOrSplit, pressed: (rect) => first(rect).colspan > 1 || first(rect).rowspan > 1 },
];

/** Attributes of the first selected cell. */
function first({ table, map, top, left }) {
  return table.nodeAt(map.map[top * map.width + left]).attrs;
}

function isAligned(align) {
  return (rect) => attribute(first(rect).html, "data-align") === align;
}

const bars = new WeakMap();

export function tableBar() {
  return new Plugin({
    view: (view) => new TableBar(view),
    props: {
      handleKeyDown: (view, event) => event.key === "F10" && event.altKey && (bars.get(view)?.focus() ?? false),
      handleDOMEvents: {
        focus: (view) => (bars.get(view)?.update(view), false),
        blur: (view) => (setTimeout(() => bars.get(view)?.update(view)), false),
      },
    },
  });
}

class TableBar {
  #onScroll = () => !this.box.hidden && this.place();

  constructor(view) {
    this.view = view;
    bars.set(view, this);
    this.buttons = BUTTONS.map((item, n) =>
      button(icon(item.icon), () => this.run(item), { "aria-label": item.name, title: item.name, tabIndex: n === 0 ? 0 : -1, onmousedown: (event) => event.preventDefault() }),
    );
    this.box = el("div", { className: "editor-float editor-toolbar editor-tablebar", role: "toolbar", "aria-label": "Table", hidden: true, onkeydown: (event) => this.key(event) }, ...this.buttons);
    float(this.box);
    addEventListener("scroll", this.#onScroll, { passive: true });
  }

  update(view) {
    if (view.isDestroyed) return;
    const { state } = view;
    const shown = isInTable(state) && (state.selection.empty || state.selection instanceof CellSelection) && (view.hasFocus() || this.box.contains(document.activeElement));
    const wasHidden = this.box.hidden;
    this.box.hidden = !shown;
    if (!shown) return;
    const rect = selectedRect(state);
    for (const [n, item] of BUTTONS.entries()) {
      const element = this.buttons[n];
      if (item.pressed) element.setAttribute("aria-pressed", String(item.pressed(rect)));
      element.disabled = !item.run(state);
    }
    // The table's place depends on what is above it only.
    const table = view.nodeDOM(state.selection.$from.before(tableDepth(state)));
    if (wasHidden || table !== this.table) {
      this.table = table;
      this.place();
    }
  }

  /** Puts the bar above the table; above the window's upper edge, at that. */
  place() {
    if (!this.table?.isConnected) return;
    const { left, top, bottom } = this.table.getBoundingClientRect();
    const height = this.box.offsetHeight + 12;
    place(this.box, { left, top: Math.max(top, Math.min(height, bottom)), bottom }, "above");
  }

  focus() {
    if (this.box.hidden) return false;
    this.buttons[0].focus();
    return true;
  }

  run(item) {
    const hadFocus = this.box.contains(document.activeElement);
    const at = document.activeElement;
    // Each is undone on its own.
    item.run(this.view.state, (tr) => this.view.dispatch(closeHistory(tr)));
    this.view.focus();
    this.place();
    // By keyboard, one stays in the bar.
    if (hadFocus && !this.box.hidden && at.isConnected && !at.disabled) at.focus();
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const usable = this.buttons.filter((element) => !element.disabled);
      const at = usable.indexOf(document.activeElement);
      usable[(at + step + usable.length) % usable.length].focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      this.view.focus();
    }
  }

  destroy() {
    removeEventListener("scroll", this.#onScroll);
    this.box.remove();
  }
}
