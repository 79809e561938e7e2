// The handle beside a block: dragging it moves the block, and its menu has the other actions on blocks.

import { NodeSelection, Plugin } from "prosemirror-state";
import { Slice, Fragment } from "prosemirror-model";
import { blockAround, blockAt, deleteBlock, duplicateBlock, isBlock, moveBlock } from "./commands.js";
import { button, el, float, icon, moveTo, place } from "./dom.js";
import { openMenu } from "./menu.js";

/** @param {(pos: number) => import("prosemirror-state").Command} editAsText */
export function blockHandle(editAsText) {
  return new Plugin({
    view: (view) => new Handle(view, editAsText),
    props: {
      handleDOMEvents: {
        mousemove: (view, event) => (handles.get(view)?.hover(event), false),
        keydown: (view) => (handles.get(view)?.follow(), false),
      },
    },
  });
}

const handles = new WeakMap();

function isNarrow() {
  return matchMedia("(hover: none), (max-width: 700px)").matches;
}

class Handle {
  #outside = (event) => {
    if (!this.menu.hidden && !this.menu.contains(event.target) && !this.box.contains(event.target)) this.toggle(false);
  };

  constructor(view, editAsText) {
    this.view = view;
    handles.set(view, this);
    this.block = null;
    // Not every browser drags button elements.
    this.grip = el("div", {
      className: "editor-grip", role: "button", tabIndex: 0, draggable: true, "aria-label": "Block: move, copy, delete", "aria-haspopup": "menu", "aria-expanded": "false", title: "Drag to move; click for more",
      onclick: () => this.toggle(this.menu.hidden),
      onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), this.toggle(this.menu.hidden)),
      ondragstart: (event) => this.drag(event),
      ondragend: () => (this.view.dragging = null),
    }, icon("M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01"));
    this.plus = button(icon("M12 5v14M5 12h14"), () => this.insert(), { className: "editor-plus", "aria-label": "Add a block below", title: "Add a block below" });
    this.box = el("div", { className: "editor-handle", hidden: true }, this.plus, this.grip);
    const action = (label, command) => button(label, () => this.act(command), { role: "menuitem", tabIndex: -1 });
    this.menu = el("div", { className: "editor-float editor-actions", role: "menu", "aria-label": "Block", hidden: true, onkeydown: (event) => this.key(event) },
      action("Move up", () => moveBlock(-1)), action("Move down", () => moveBlock(1)), action("Duplicate", duplicateBlock), action("Edit as text", editAsText), action("Delete", deleteBlock));
    float(this.box, this.menu);
    document.addEventListener("pointerdown", this.#outside);
  }

  /** Shows the handle at the block under the pointer. */
  hover(event) {
    if (isNarrow() || !this.menu.hidden) return;
    const block = event.target.closest?.(".ProseMirror > *, .editor-inside > :not(figcaption, .editor-summary)");
    if (block && block !== this.block) this.show(block);
  }

  /** Shows it at the block of the selection. */
  follow() {
    this.block = null;
    this.box.hidden = true;
  }

  update(view, before) {
    if (before && view.state.doc === before.doc && view.state.selection.eq(before.selection)) return;
    // On narrow screens and with touch, it is for the block that is edited.
    if (isNarrow()) {
      const dom = view.nodeDOM(blockAt(view.state).pos);
      if (dom instanceof HTMLElement && view.hasFocus()) return this.show(dom);
    }
    if (this.block && !this.block.isConnected) this.follow();
  }

  show(block) {
    this.block = block;
    this.box.hidden = false;
    const rect = block.getBoundingClientRect();
    const line = parseFloat(getComputedStyle(block).lineHeight) || 24;
    const left = this.view.dom.getBoundingClientRect().left - this.box.offsetWidth - 8;
    this.box.classList.toggle("inside", left < 0 || isNarrow());
    moveTo(this.box, left, rect.top + Math.max(0, (Math.min(line, rect.height) - this.box.offsetHeight) / 2));
  }

  /** The position of the block of the handle. */
  position() {
    const { state } = this.view;
    const $pos = state.doc.resolve(this.view.posAtDOM(this.block, 0));
    for (let depth = $pos.depth; depth > 0; depth -= 1) {
      if (isBlock($pos.node(depth)) && this.view.nodeDOM($pos.before(depth)) === this.block) return $pos.before(depth);
    }
    return blockAround($pos).pos;
  }

  /** Selects the block of the handle. */
  select() {
    const pos = this.position();
    this.view.dispatch(this.view.state.tr.setSelection(NodeSelection.create(this.view.state.doc, pos)));
    return pos;
  }

  drag(event) {
    this.select();
    const { selection } = this.view.state;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", selection.node.textContent);
    event.dataTransfer.setDragImage(this.block, 0, 0);
    this.view.dragging = { slice: new Slice(Fragment.from(selection.node), 0, 0), move: true, node: selection };
  }

  toggle(open) {
    this.menu.hidden = !open;
    this.grip.setAttribute("aria-expanded", String(open));
    if (!open) return;
    this.select();
    place(this.menu, this.grip.getBoundingClientRect(), "below");
    this.menu.firstElementChild.focus();
  }

  act(make) {
    this.toggle(false);
    make(this.position())(this.view.state, this.view.dispatch, this.view);
    this.follow();
    this.view.focus();
  }

  insert() {
    this.select();
    openMenu(this.view);
    this.follow();
  }

  key(event) {
    const buttons = [...this.menu.children];
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      buttons[(at + step + buttons.length) % buttons.length].focus();
      event.preventDefault();
    } else if (event.key === "Escape" || event.key === "Tab") {
      this.toggle(false);
      this.view.focus();
      event.preventDefault();
    }
  }

  destroy() {
    document.removeEventListener("pointerdown", this.#outside);
    this.box.remove();
    this.menu.remove();
  }
}
