// The view of an image: the picture, its upload, the field for alternative text, and the caption.

import { NodeSelection } from "prosemirror-state";
import { attribute, withAttribute } from "../blocks/html.js";
import { stringify } from "../blocks/json.js";
import { schema } from "../model/schema.js";
import { button, el } from "./dom.js";

export class ImageView {
  /**
   * @param {import("prosemirror-model").Node} node
   * @param {import("prosemirror-view").EditorView} view
   * @param {() => number | undefined} getPos
   * @param {import("./upload.js").Uploads} uploads
   */
  constructor(node, view, getPos, uploads) {
    Object.assign(this, { node, view, getPos, uploads });
    this.img = el("img", { draggable: false, onclick: () => this.select() });
    this.state = el("div", { className: "editor-upload", role: "status", hidden: true });
    this.alt = el("input", { type: "text", placeholder: "Describe the picture", "aria-label": "Alternative text", oninput: () => this.setAttrs({ img: withAttribute(this.node.attrs.img, "alt", this.alt.value) }), onkeydown: (event) => this.key(event) });
    this.altLabel = el("label", { className: "editor-alt" }, el("span", {}, "Alt text"), this.alt);
    this.contentDOM = el("figcaption", { "data-placeholder": "Caption" });
    this.picture = el("div", { className: "editor-picture" }, this.img, this.state);
    this.tools = el("div", { className: "editor-image-tools" }, this.altLabel);
    for (const element of [this.picture, this.tools]) element.contentEditable = "false";
    this.dom = el("figure", { className: "editor-image" }, this.picture, this.tools, this.contentDOM);
    this.stop = uploads.watch((id) => id === this.node.attrs.upload && this.progress());
    this.show();
  }

  show() {
    const { img, html } = this.node.attrs;
    const upload = this.uploads.get(this.node.attrs.upload);
    const src = attribute(img, "src") ?? upload?.url ?? "";
    if (src !== "" && this.img.getAttribute("src") !== src) this.img.src = src;
    this.img.hidden = src === "";
    this.img.alt = attribute(img, "alt") ?? "";
    if (this.alt !== document.activeElement) this.alt.value = this.img.alt;
    this.contentDOM.classList.toggle("is-empty", this.node.childCount === 0);
    const align = /\balign(?:left|right|center|wide|full)\b/.exec(html)?.[0] ?? "";
    this.dom.className = `editor-image ${align}`;
    this.progress();
  }

  /** Shows the upload's state, and takes over its result. */
  progress() {
    const upload = this.uploads.get(this.node.attrs.upload);
    this.dom.classList.toggle("is-uploading", upload?.state === "sending");
    this.state.hidden = !upload || upload.state === "done";
    if (upload?.state === "done") {
      // After the transaction that may be in progress.
      queueMicrotask(() => this.node.attrs.upload && this.setAttrs(stored(this.node.attrs, upload.media), false));
    } else if (upload?.state === "failed") {
      this.bar = null;
      this.state.replaceChildren(
        el("span", { className: "editor-error" }, `Not uploaded. ${upload.message} ${upload.isKept ? "This browser keeps the picture." : "The picture is lost if you leave this page."} `),
        button("Try again", () => this.uploads.start(this.node.attrs.upload), { onmousedown: null }),
      );
    } else if (upload) {
      if (!this.bar) {
        this.bar = el("progress", { max: 1, "aria-label": `Upload of ${upload.file.name}` });
        this.state.replaceChildren(this.bar);
      }
      this.bar.value = upload.progress;
    }
  }

  setAttrs(attrs, history = true) {
    const pos = this.getPos();
    if (pos === undefined) return;
    const tr = this.view.state.tr.setNodeMarkup(pos, null, { ...this.node.attrs, ...attrs });
    if (!history) tr.setMeta("addToHistory", false);
    const { selection } = this.view.state;
    if (selection instanceof NodeSelection && selection.from === pos) tr.setSelection(NodeSelection.create(tr.doc, pos));
    this.view.dispatch(tr);
  }

  select() {
    const pos = this.getPos();
    if (pos !== undefined) this.view.dispatch(this.view.state.tr.setSelection(NodeSelection.create(this.view.state.doc, pos)));
  }

  key(event) {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    this.view.focus();
  }

  update(node) {
    if (node.type !== this.node.type) return false;
    this.node = node;
    this.show();
    return true;
  }

  selectNode() {
    this.dom.classList.add("ProseMirror-selectednode");
  }

  deselectNode() {
    this.dom.classList.remove("ProseMirror-selectednode");
  }

  stopEvent(event) {
    return this.tools.contains(event.target) || event.target instanceof HTMLButtonElement;
  }

  ignoreMutation(mutation) {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }

  destroy() {
    this.stop();
  }
}

/** Attributes of an uploaded image, as the block editor stores them. */
export function stored(attrs, media) {
  const large = media.media_details?.sizes?.large?.source_url;
  const sizeSlug = large ? "large" : "full";
  const img = withAttribute(withAttribute(withAttribute("", "src", large ?? media.source_url), "alt", attribute(attrs.img, "alt") || media.alt_text || ""), "class", `wp-image-${media.id}`);
  return { upload: null, img, json: stringify({ id: media.id, sizeSlug, linkDestination: "none" }), html: ` class="wp-block-image size-${sizeSlug}"` };
}

/** Nodes for images of the site's media. */
export function mediaNodes(media) {
  return media.map((file) => schema.nodes.image.create(stored({ img: "" }, file)));
}

/** Nodes for files that begin to upload. */
export function imageNodes(files, uploads) {
  return files.map((file) => schema.nodes.image.create({ upload: uploads.add(file) }));
}
