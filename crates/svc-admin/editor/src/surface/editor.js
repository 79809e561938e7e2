// The editor of a post's content.

import { dropCursor } from "prosemirror-dropcursor";
import { gapCursor } from "prosemirror-gapcursor";
import { closeHistory, history } from "prosemirror-history";
import { EditorState, NodeSelection, Plugin, Selection } from "prosemirror-state";
import { tableEditing } from "prosemirror-tables";
import { EditorView } from "prosemirror-view";
import { Origins } from "../model/document.js";
import { schema } from "../model/schema.js";
import { goToEnd, positionOf } from "./commands.js";
import { el } from "./dom.js";
import { blockHandle } from "./handle.js";
import { ImageView, imageNodes } from "./image.js";
import { keys } from "./keys.js";
import { editLink, linkField } from "./link.js";
import { blockMenu, items } from "./menu.js";
import { OpaqueView } from "./opaque.js";
import { pasteProps } from "./paste.js";
import { placeholder } from "./placeholder.js";
import { rules } from "./rules.js";
import { sectionOrder } from "./table.js";
import { tableBar } from "./tablebar.js";
import { toolbar } from "./toolbar.js";

export class Editor {
  /**
   * @param {object} parts
   * @param {HTMLElement} parts.mount is filled with the editor
   * @param {string} parts.content as stored
   * @param {string} parts.labelledBy label of the text for screen readers
   * @param {string} parts.lang
   * @param {import("./upload.js").Uploads} parts.uploads
   * @param {() => void} parts.onChange
   * @param {() => boolean} parts.toTitle moves the focus to the field above; false if there is none
   * @param {(message: string) => void} parts.say shows a message
   */
  constructor(parts) {
    this.parts = parts;
    this.origins = new Origins();
    this.chooser = el("input", { type: "file", accept: "image/*", multiple: true, hidden: true, "aria-label": "Images", onchange: () => this.#chosen() });
    parts.mount.append(this.chooser);
    this.view = new EditorView(parts.mount, {
      state: this.#state(parts.content),
      attributes: { role: "textbox", "aria-multiline": "true", "aria-label": parts.labelledBy, spellcheck: "true", lang: parts.lang, class: "editor-text" },
      nodeViews: {
        opaque: (node, view, getPos) => new OpaqueView(node, view, getPos, this.origins),
        image: (node, view, getPos) => new ImageView(node, view, getPos, parts.uploads),
      },
      dispatchTransaction: (tr) => {
        this.view.updateState(this.view.state.apply(tr));
        if (tr.docChanged) parts.onChange();
      },
      ...pasteProps({ origins: this.origins, uploads: parts.uploads, refused: parts.say, insertFiles: (view, files, pos) => this.insertFiles(files, pos) }),
    });
    this.#aboveKeyboard();
  }

  /** Keeps what is at the lower edge above the keyboard of a touch screen. */
  #aboveKeyboard() {
    const viewport = window.visualViewport;
    const update = () => document.documentElement.style.setProperty("--editor-bottom", `${Math.max(0, innerHeight - viewport.height - viewport.offsetTop)}px`);
    viewport?.addEventListener("resize", update);
    viewport?.addEventListener("scroll", update);
  }

  #state(content) {
    const { parts } = this;
    const actions = {
      link: editLink,
      toTitle: parts.toTitle,
      chooseImages: () => this.chooser.click(),
    };
    return EditorState.create({
      doc: this.origins.open(content),
      plugins: [
        blockMenu(items(actions)),
        linkField(),
        rules(),
        ...keys(actions),
        history(),
        dropCursor({ color: false, class: "editor-drop" }),
        gapCursor(),
        placeholder(),
        toolbar(),
        blockHandle(),
        tableBar(),
        tableEditing({ allowTableNodeSelection: true }),
        sectionOrder(),
        clickBelow(),
      ],
    });
  }

  /** The content as it is stored. */
  get content() {
    return this.origins.print(this.view.state.doc);
  }

  /** Replaces the content; the change can be undone. */
  set content(content) {
    const doc = this.origins.open(content);
    const { tr } = this.view.state;
    this.view.dispatch(closeHistory(tr.replaceWith(0, tr.doc.content.size, doc.content)));
  }

  focus() {
    this.view.focus();
  }

  /** Goes to the start of the text. */
  focusStart() {
    this.view.dispatch(this.view.state.tr.setSelection(Selection.atStart(this.view.state.doc)).scrollIntoView());
    this.view.focus();
  }

  /** Inserts images that begin to upload, at a position or the selection. */
  insertFiles(files, pos) {
    const { state } = this.view;
    const $pos = pos === null ? state.selection.$from : state.doc.resolve(pos);
    const index = Math.min($pos.index(0), state.doc.childCount - 1);
    const block = state.doc.child(index);
    const nodes = imageNodes(files, this.parts.uploads);
    const isEmpty = block.type === schema.nodes.paragraph && block.childCount === 0;
    const start = positionOf(state.doc, index);
    const from = isEmpty || $pos.depth === 0 && pos !== null ? Math.min(isEmpty ? start : $pos.pos, state.doc.content.size) : start + block.nodeSize;
    const tr = state.tr.replaceWith(from, isEmpty ? start + block.nodeSize : from, nodes);
    const end = from + nodes.reduce((sum, node) => sum + node.nodeSize, 0);
    if (end >= tr.doc.content.size) tr.insert(end, schema.nodes.paragraph.create());
    tr.setSelection(NodeSelection.create(tr.doc, end - nodes.at(-1).nodeSize));
    this.view.dispatch(tr.scrollIntoView());
    this.view.focus();
  }

  #chosen() {
    const fitting = [...this.chooser.files].filter((file) => {
      const why = this.parts.uploads.refuse(file);
      if (why) this.parts.say(why);
      return !why;
    });
    this.chooser.value = "";
    if (fitting.length > 0) this.insertFiles(fitting, null);
  }
}

/** A click below the last block goes on there. */
function clickBelow() {
  return new Plugin({
    props: {
      handleClick(view, _pos, event) {
        const last = view.dom.lastElementChild?.getBoundingClientRect();
        if (!last || event.clientY <= last.bottom) return false;
        goToEnd(view.state, view.dispatch);
        view.focus();
        return true;
      },
    },
  });
}
