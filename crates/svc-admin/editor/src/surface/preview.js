// Shows stored HTML that is not the editor's own: in a shadow root, without anything that acts.

import { el } from "./dom.js";
import { parseQuietly, styleText } from "./quiet.js";

const REMOVED = "script, iframe, frame, frameset, object, embed, applet, form, base, meta, link, style, template, portal, dialog, animate, set";
const URLS = new Set(["href", "src", "xlink:href", "action", "formaction", "poster", "background", "data", "ping"]);
const PREVIEW = `
  :host { display: block; contain: content; overflow: auto; max-height: 24rem; white-space: normal; }
  :host > :first-child { margin-top: 0; } :host > :last-child { margin-bottom: 0; }
  img, video, svg { max-width: 100%; height: auto; }
  figure { margin: 0; } figcaption { font-size: .85em; opacity: .75; }
  table { border-collapse: collapse; width: 100%; } td, th { border: 1px solid currentColor; padding: .3em .5em; min-width: 2em; height: 1.2em; }
  .wp-block-columns, .wp-block-gallery, .wp-block-buttons { display: flex; flex-wrap: wrap; gap: .75rem; padding: 0; }
  .wp-block-column, .wp-block-gallery > * { flex: 1 1 8rem; }
  .wp-block-button__link { display: inline-block; padding: .4em 1em; border-radius: 1.5em; border: 1px solid currentColor; }
  ul.blocks-gallery-grid { display: flex; gap: .75rem; list-style: none; padding: 0; }
  pre { white-space: pre-wrap; }
`;
let sheet = null;

/**
 * The HTML as inert nodes of this document. Scripts, frames, forms, handlers and script URLs are removed.
 *
 * @param {string} html
 */
export function sanitize(html) {
  const body = parseQuietly(html);
  for (const element of body.querySelectorAll(REMOVED)) element.remove();
  for (const element of [...body.querySelectorAll("*")]) {
    const style = styleText(element);
    for (const { name, value } of [...element.attributes]) {
      const key = name.toLowerCase();
      const acts = key.startsWith("on") || key.startsWith("data-was-") || key === "srcdoc" || key === "autofocus" || key === "autoplay" || key === "is" || key === "style";
      if (acts || (URLS.has(key) && isScript(value))) element.removeAttribute(name);
    }
    // Set by script, since the page's content security policy forbids attributes with styles.
    if (style !== "" && element.style) element.style.cssText = style;
  }
  const out = document.createDocumentFragment();
  out.append(...[...body.childNodes].map((node) => document.adoptNode(node)));
  return out;
}

function isScript(url) {
  const scheme = url.replace(/[\u0000-\u0020\u007f-\u00a0]/g, "").toLowerCase();
  return /^(?:javascript|vbscript):/.test(scheme) || /^data:(?!image\/(?:png|gif|jpe?g|webp|avif)[;,])/.test(scheme);
}

/**
 * An element that shows markup of blocks, or null if there is nothing to show.
 *
 * @param {string | null} name of the block; null for text outside blocks
 * @param {string} source
 */
export function preview(name, source) {
  const html = source.replace(/<!--[^]*?-->/g, "");
  const shown = sanitize(name === null || name === "core/freeform" ? paragraphs(html) : html);
  if (shown.textContent.trim() === "" && !shown.querySelector("img, picture, video, audio, svg, hr, table, input, canvas")) return null;
  const host = el("div", { className: "editor-preview" });
  host.inert = true;
  const root = host.attachShadow({ mode: "open" });
  if ("adoptedStyleSheets" in root && typeof CSSStyleSheet === "function" && CSSStyleSheet.prototype.replaceSync) {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(PREVIEW);
    }
    root.adoptedStyleSheets = [sheet];
  }
  root.append(shown);
  return host;
}

/** Classic text for display: paragraphs between blank lines, and line breaks. */
export function paragraphs(text) {
  return text
    .split(/(?:\r?\n[ \t]*){2,}/)
    .map((part) => (part.trim() === "" || /^\s*<\/?(?:p|div|h[1-6]|ul|ol|li|blockquote|pre|table|figure|hr|dl|section|article)\b/i.test(part) ? part : `<p>${part.trim().replace(/\r?\n/g, "<br>")}</p>`))
    .join("\n");
}

/** A block's name for people: `core/media-text` is "Media text". */
export function label(name) {
  if (name === null || name === "core/freeform") return "Classic text";
  const [space, block] = name.split("/");
  const words = block.replace(/[-_]+/g, " ");
  const title = words[0].toUpperCase() + words.slice(1);
  return space === "core" ? title : `${title} (${space})`;
}
