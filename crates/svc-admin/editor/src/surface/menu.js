// The menu of blocks that `/` opens at the start of an empty paragraph.

import { Plugin, PluginKey } from "prosemirror-state";
import { schema } from "../model/schema.js";
import { insertBlock, setCode, setText, wrapList, wrapQuote } from "./commands.js";
import { el, float, place } from "./dom.js";
import { buttons, newButton, newColumns, newDetails, newGroup } from "./layout.js";
import { newTable } from "./table.js";

const { nodes } = schema;

/**
 * @typedef {{label: string, words: string, hint?: string, run: import("prosemirror-state").Command}} Item `words` are
 *   found by the filter, too
 */

/** @param {{chooseImages: () => void, chooseMedia: (several: boolean) => void}} actions @returns {Item[]} */
export function items(actions) {
  return [
    { label: "Text", words: "paragraph", run: setText(0) },
    { label: "Heading", words: "title h2", hint: "##", run: setText(2) },
    { label: "Small heading", words: "title h3", hint: "###", run: setText(3) },
    { label: "Image", words: "picture photo upload", run: (_state, dispatch) => (dispatch && actions.chooseImages(), true) },
    { label: "Image from Media", words: "picture photo library", run: (_state, dispatch) => (dispatch && actions.chooseMedia(false), true) },
    { label: "Gallery", words: "pictures photos images media", run: (_state, dispatch) => (dispatch && actions.chooseMedia(true), true) },
    { label: "Bulleted list", words: "ul unordered", hint: "-", run: wrapList(false) },
    { label: "Numbered list", words: "ol ordered", hint: "1.", run: wrapList(true) },
    { label: "Quote", words: "blockquote citation", hint: ">", run: wrapQuote },
    { label: "Code", words: "pre program", hint: "```", run: setCode },
    { label: "Separator", words: "line hr rule divider", hint: "---", run: insertBlock(nodes.separator.create()) },
    { label: "Table", words: "grid rows columns", run: insertBlock(newTable(2, 2)) },
    { label: "Columns", words: "two side layout", run: insertBlock(newColumns(2)) },
    { label: "Three columns", words: "3 side layout", run: insertBlock(newColumns(3)) },
    { label: "Buttons", words: "link call action", run: insertBlock(buttons([newButton()])) },
    { label: "Embed", words: "video youtube vimeo audio link url", run: insertBlock(nodes.embed.create()) },
    { label: "Details", words: "summary accordion disclosure more", run: insertBlock(newDetails()) },
    { label: "Group", words: "section container", run: insertBlock(newGroup()) },
    { label: "Preformatted", words: "pre poem", run: (state, dispatch) => insertBlock(nodes.preformatted.create())(state, dispatch) },
    { label: "HTML", words: "custom code markup", run: (state, dispatch) => insertBlock(nodes.html.create())(state, dispatch) },
    { label: "Largest heading", words: "title h1", hint: "#", run: setText(1) },
    { label: "Smallest heading", words: "title h4", hint: "####", run: setText(4) },
  ];
}

const key = new PluginKey("menu");

/** What is typed after `/`, or null if the menu does not apply. */
function query(state) {
  const { $from, empty } = state.selection;
  if (!empty || $from.parent.type !== nodes.paragraph || $from.parentOffset !== $from.parent.content.size) return null;
  const found = /^\/([\p{L}\p{N} ]{0,20})$/u.exec($from.parent.textContent);
  return found ? found[1].toLowerCase() : null;
}

/** @param {Item[]} all */
export function blockMenu(all) {
  return new Plugin({
    key,
    state: {
      init: () => ({ query: null, closed: false }),
      // Escape closes the menu until the paragraph has no `/` any more.
      apply: (tr, before, _old, state) => {
        if (!tr.docChanged && !tr.selectionSet && !tr.getMeta(key)) return before;
        const now = query(state);
        const closed = now !== null && (tr.getMeta(key) === "close" || before.closed);
        return { query: now, closed };
      },
    },
    props: {
      handleKeyDown(view, event) {
        return menus.get(view)?.key(event) ?? false;
      },
    },
    view(view) {
      const menu = new Menu(view, all);
      menus.set(view, menu);
      return menu;
    },
  });
}

const menus = new WeakMap();

class Menu {
  /** @param {import("prosemirror-view").EditorView} view @param {Item[]} all */
  constructor(view, all) {
    this.view = view;
    this.all = all;
    this.shown = [];
    this.active = 0;
    this.list = el("div", { className: "editor-menu", id: "editor-menu", role: "listbox", "aria-label": "Blocks", hidden: true });
    float(this.list);
  }

  update(view) {
    const { query, closed } = key.getState(view.state);
    const shown = query === null || closed || !view.hasFocus() ? [] : found(this.all, query);
    if (shown.length === 0) return this.hide();
    const isNew = this.list.hidden || shown.length !== this.shown.length || shown.some((item, n) => item !== this.shown[n]);
    if (isNew) {
      this.shown = shown;
      this.active = 0;
      this.list.replaceChildren(...shown.map((item, n) => this.option(item, n)));
      this.list.hidden = false;
      this.list.scrollTop = 0;
    }
    place(this.list, view.coordsAtPos(view.state.selection.from), "below");
    this.mark();
  }

  option(item, n) {
    return el(
      "div",
      {
        role: "option",
        id: `editor-menu-${n}`,
        onmousedown: (event) => event.preventDefault(),
        onclick: () => this.run(n),
        onmousemove: () => this.active !== n && ((this.active = n), this.mark()),
      },
      el("span", {}, item.label),
      el("kbd", { "aria-hidden": "true" }, item.hint ?? ""),
    );
  }

  /** Says which option is active. The text is a combo box as long as the list is open. */
  mark() {
    for (const [n, option] of [...this.list.children].entries()) option.setAttribute("aria-selected", String(n === this.active));
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
    const { dom } = this.view;
    dom.setAttribute("role", "combobox");
    dom.removeAttribute("aria-multiline");
    dom.setAttribute("aria-expanded", "true");
    dom.setAttribute("aria-controls", "editor-menu");
    dom.setAttribute("aria-activedescendant", `editor-menu-${this.active}`);
  }

  hide() {
    if (this.list.hidden) return;
    this.list.hidden = true;
    const { dom } = this.view;
    dom.setAttribute("role", "textbox");
    dom.setAttribute("aria-multiline", "true");
    for (const name of ["aria-expanded", "aria-controls", "aria-activedescendant"]) dom.removeAttribute(name);
  }

  key(event) {
    if (this.list.hidden || event.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.active = (this.active + step + this.shown.length) % this.shown.length;
      this.mark();
    } else if (event.key === "Enter" || event.key === "Tab") {
      this.run(this.active);
    } else if (event.key === "Escape") {
      this.view.dispatch(this.view.state.tr.setMeta(key, "close"));
    } else {
      return false;
    }
    return true;
  }

  run(n) {
    const item = this.shown[n];
    const { state } = this.view;
    const { $from } = state.selection;
    this.view.dispatch(state.tr.delete($from.start(), $from.end()));
    item.run(this.view.state, this.view.dispatch, this.view);
    this.view.focus();
  }

  destroy() {
    this.list.remove();
  }
}

/** Items that match, those by their label first. */
function found(all, query) {
  const shown = all.filter((item) => matches(item, query));
  const byLabel = (item) => item.label.toLowerCase().startsWith(query.trim());
  return [...shown.filter(byLabel), ...shown.filter((item) => !byLabel(item))];
}

function matches(item, query) {
  const words = `${item.label} ${item.words}`.toLowerCase().split(" ");
  return query.trim().split(/ +/).every((part) => words.some((word) => word.startsWith(part)));
}

/** Opens the menu in an empty paragraph at the selection, for touch and mouse. */
export function openMenu(view) {
  const { $from } = view.state.selection;
  if ($from.parent.type !== nodes.paragraph || $from.parent.childCount > 0) {
    insertBlock(nodes.paragraph.create())(view.state, view.dispatch);
  }
  view.focus();
  view.dispatch(view.state.tr.insertText("/"));
}
