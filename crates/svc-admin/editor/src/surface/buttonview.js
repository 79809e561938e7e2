// The view of a button: its text, and a field for its link.

import { attribute, withAttribute } from "../blocks/html.js";
import { el } from "./dom.js";
import { asUrl } from "./link.js";

export class ButtonView {
  /**
   * @param {import("prosemirror-model").Node} node
   * @param {import("prosemirror-view").EditorView} view
   * @param {() => number | undefined} getPos
   */
  constructor(node, view, getPos) {
    Object.assign(this, { node, view, getPos });
    this.contentDOM = el("span", { className: "editor-button-text", "data-placeholder": "Button" });
    this.url = el("input", { type: "text", inputMode: "url", placeholder: "Link", "aria-label": "URL of the button", oninput: () => this.set(this.url.value), onchange: () => this.finish(), onkeydown: (event) => this.key(event) });
    this.field = el("label", { className: "editor-button-link" }, this.url);
    this.field.contentEditable = "false";
    this.dom = el("div", { className: "editor-button" }, this.contentDOM, this.field);
    this.show();
  }

  show() {
    // Buttons that are no links have an action of their own.
    this.field.hidden = this.node.attrs.tag !== "a";
    if (this.url !== document.activeElement) this.url.value = attribute(this.node.attrs.link, "href") ?? "";
    this.contentDOM.classList.toggle("is-empty", this.node.childCount === 0);
  }

  set(value) {
    const pos = this.getPos();
    const url = value.trim();
    if (pos === undefined || url === (attribute(this.node.attrs.link, "href") ?? "")) return;
    if (url !== "" && asUrl(url) === null) return;
    this.view.dispatch(this.view.state.tr.setNodeMarkup(pos, null, { ...this.node.attrs, link: withAttribute(this.node.attrs.link, "href", url === "" ? null : url) }));
  }

  key(event) {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    this.finish();
    this.view.focus();
  }

  /** Takes the URL as people type it. */
  finish() {
    this.set(asUrl(this.url.value) ?? "");
    this.url.value = attribute(this.node.attrs.link, "href") ?? "";
  }

  update(node) {
    if (node.type !== this.node.type) return false;
    this.node = node;
    this.show();
    return true;
  }

  stopEvent(event) {
    return this.field.contains(event.target);
  }

  ignoreMutation(mutation) {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }
}
