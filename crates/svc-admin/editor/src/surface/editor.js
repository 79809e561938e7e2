// The editor of a post's content.

import { dropCursor } from "prosemirror-dropcursor";
import { gapCursor } from "prosemirror-gapcursor";
import { closeHistory, history } from "prosemirror-history";
import { EditorState, NodeSelection, Plugin, Selection } from "prosemirror-state";
import { tableEditing } from "prosemirror-tables";
import { EditorView } from "prosemirror-view";
import { attribute } from "../blocks/html.js";
import { Origins } from "../model/document.js";
import { schema } from "../model/schema.js";
import { blockAround, goToEnd } from "./commands.js";
import { ButtonView } from "./buttonview.js";
import { el } from "./dom.js";
import { offerConversion } from "./convert.js";
import { EmbedView } from "./embed.js";
import { blockHandle } from "./handle.js";
import { ImageView, imageNodes, mediaNodes } from "./image.js";
import { keys } from "./keys.js";
import { editLink, linkField } from "./link.js";
import { chooseMedia } from "./media.js";
import { blockMenu, items } from "./menu.js";
import { OpaqueView, editAsText } from "./opaque.js";
import { pasteProps } from "./paste.js";
import { placeholder } from "./placeholder.js";
import { rules } from "./rules.js";
import { ShellView, cursorShells } from "./shell.js";
import { tidyTables } from "./table.js";
import { tableBar } from "./tablebar.js";
import { toolbar } from "./toolbar.js";

/** Blocks of a post beyond which the browser skips those that are not seen. */
const LONG = 100;

export class Editor {
  /** Where chosen files are inserted; null for the selection. */
  #target = () => null;

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
      attributes: (state) => ({ role: "textbox", "aria-multiline": "true", "aria-label": parts.labelledBy, spellcheck: "true", lang: parts.lang, class: state.doc.childCount > LONG ? "editor-text is-long" : "editor-text" }),
      nodeViews: {
        opaque: (node, view, getPos) => new OpaqueView(node, view, getPos, this.origins),
        image: (node, view, getPos) => new ImageView(node, view, getPos, parts.uploads),
        embed: (node, view, getPos) => new EmbedView(node, view, getPos, parts.uploads),
        button: (node, view, getPos) => new ButtonView(node, view, getPos),
        ...Object.fromEntries(["container", "frame", "details", "gallery"].map((name) => [name, (node, view, getPos) => new ShellView(node, view, getPos, (pos) => this.addPictures(pos))])),
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
      chooseImages: () => this.#chooseFiles(),
      chooseMedia: (several) => this.#chooseMedia(several),
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
        blockHandle(editAsText(this.origins)),
        cursorShells(),
        tableBar(),
        tableEditing({ allowTableNodeSelection: true }),
        tidyTables(),
        clickBelow(),
        offerConversion(parts.mount),
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
    this.insertImages(imageNodes(files, this.parts.uploads), pos);
  }

  /** Inserts images at a position or the selection: several are a gallery, unless they are in one already. */
  insertImages(images, pos) {
    const { state } = this.view;
    const { nodes } = schema;
    const $pos = pos === null ? state.selection.$from : state.doc.resolve(pos);
    const block = blockAround($pos);
    const isBetween = pos !== null && ($pos.depth === block.depth || $pos.parent.type === nodes.gallery);
    const inGallery = (isBetween ? $pos.parent : $pos.node(block.depth)).type === nodes.gallery;
    const isEmpty = block.node.type === nodes.paragraph && block.node.childCount === 0;
    const content = images.length > 1 && !inGallery ? [nodes.gallery.create(null, [...images, nodes.caption.create()])] : images;
    const end = block.pos + block.node.nodeSize;
    const from = isEmpty ? block.pos : isBetween ? $pos.pos : end;
    const tr = state.tr.replaceWith(from, isEmpty ? end : from, content);
    const after = tr.doc.resolve(from + content.reduce((sum, node) => sum + node.nodeSize, 0));
    if (!inGallery && !after.nodeAfter) tr.insert(after.pos, nodes.paragraph.create());
    // The first one is selected: its alternative text is asked for.
    tr.setSelection(NodeSelection.create(tr.doc, content === images ? after.pos - images.at(-1).nodeSize : from + 1));
    this.view.dispatch(tr.scrollIntoView());
    this.view.focus();
  }

  /** Adds images of the media, or files, at the end of a gallery. */
  addPictures(getPos) {
    const at = () => {
      const pos = getPos();
      const node = pos === undefined ? null : this.view.state.doc.nodeAt(pos);
      return node ? pos + 1 + node.content.size - node.lastChild.nodeSize : null;
    };
    this.#chooseMedia(true, at);
  }

  #chooseMedia(several, at = () => null) {
    chooseMedia({
      uploads: this.parts.uploads,
      several,
      chosen: (media) => this.insertImages(mediaNodes(media), at()),
      upload: () => this.#chooseFiles(at),
    });
  }

  #chooseFiles(at = () => null) {
    this.#target = at;
    this.chooser.click();
  }

  /** Gives pictures of an earlier view of the page to the images that wait for them, and adds the others at the end. */
  addAgain(files) {
    const { tr, doc } = this.view.state;
    const rest = [...files];
    doc.descendants((node, pos) => {
      if (node.type !== schema.nodes.image) return true;
      // Stored without a picture, because they have a text.
      const waits = node.attrs.upload === null && !attribute(node.attrs.img, "src") && (node.childCount > 0 || attribute(node.attrs.img, "alt"));
      if (rest.length > 0 && waits) {
        tr.setNodeMarkup(pos, null, { ...node.attrs, upload: this.parts.uploads.add(rest.shift()) });
      }
      return false;
    });
    if (tr.docChanged) this.view.dispatch(tr);
    if (rest.length > 0) this.insertFiles(rest, this.view.state.doc.content.size);
  }

  #chosen() {
    const fitting = [...this.chooser.files].filter((file) => {
      const why = this.parts.uploads.refuse(file);
      if (why) this.parts.say(why);
      return !why;
    });
    this.chooser.value = "";
    if (fitting.length > 0) this.insertFiles(fitting, this.#target());
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
