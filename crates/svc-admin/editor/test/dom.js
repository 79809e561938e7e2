// A page in jsdom for tests.

import { JSDOM } from "jsdom";

const NAMES = [
  "document", "window", "Node", "Element", "HTMLElement", "HTMLInputElement", "HTMLTextAreaElement", "HTMLSelectElement", "HTMLButtonElement", "RadioNodeList",
  "DOMParser", "FormData", "Event", "CustomEvent", "MouseEvent", "KeyboardEvent", "MutationObserver", "XMLHttpRequest", "File", "getComputedStyle", "location",
  "history", "localStorage", "innerHeight", "scrollX", "scrollY", "addEventListener", "removeEventListener", "dispatchEvent", "requestAnimationFrame", "Text",
];

/**
 * Makes a page and its globals.
 *
 * @param {string} body
 */
export function page(body) {
  const dom = new JSDOM(`<!doctype html><html lang="en"><body>${body}</body></html>`, { url: "https://example.org/wp-admin/post-new.php", pretendToBeVisual: true });
  const { window } = dom;
  for (const name of NAMES) {
    const value = window[name];
    const isFunction = typeof value === "function" && !/^[A-Z]/.test(name);
    Object.defineProperty(globalThis, name, { value: isFunction ? value.bind(window) : value, configurable: true, writable: true });
  }
  // What jsdom lacks: layout, dialogs.
  window.Range.prototype.getClientRects = () => [];
  window.Range.prototype.getBoundingClientRect = () => ({ left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 });
  window.Element.prototype.scrollIntoView = () => {};
  window.document.elementFromPoint = () => null;
  window.HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  window.HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  globalThis.matchMedia = () => ({ matches: false });
  globalThis.ResizeObserver = class {
    observe() {}
  };
  return dom;
}
