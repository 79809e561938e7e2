// Reads HTML strictly: markup that a browser would have to repair is refused, because repairing it would change it.

import { decode } from "./entities.js";

/**
 * @typedef {{type: "open", name: string, attrs: string}
 *   | {type: "close", name: string}
 *   | {type: "text", text: string}
 *   | {type: "comment", text: string}} Token `attrs` is as written with the space before it; `text` is decoded
 */

const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9-]*)((?:[ \t\n\f\r]+[^ \t\n\f\r"'<>/=]+(?:[ \t\n\f\r]*=[ \t\n\f\r]*(?:"[^"]*"|'[^']*'|[^ \t\n\f\r"'=<>`]+))?)*)[ \t\n\f\r]*(\/?)>/y;
const ATTR = /([^ \t\n\f\r"'<>/=]+)(?:[ \t\n\f\r]*=[ \t\n\f\r]*(?:"([^"]*)"|'([^']*)'|([^ \t\n\f\r"'=<>`]+)))?/g;
const VOID = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);

/** Whether elements of this name have no content. */
export function isVoid(name) {
  return VOID.has(name);
}

/**
 * Splits markup to tokens. Returns null for what is not plain and complete: unknown entities, unfinished tags, elements
 * that are not closed in order.
 *
 * @param {string} html
 * @returns {Token[] | null}
 */
export function tokens(html) {
  const out = [];
  const open = [];
  let at = 0;
  while (at < html.length) {
    if (html[at] !== "<") {
      const next = html.indexOf("<", at);
      const end = next < 0 ? html.length : next;
      const text = decode(html.slice(at, end));
      if (text === null) return null;
      out.push({ type: "text", text });
      at = end;
      continue;
    }
    if (html.startsWith("<!--", at)) {
      const end = html.indexOf("-->", at + 4);
      if (end < 0) return null;
      out.push({ type: "comment", text: html.slice(at + 4, end) });
      at = end + 3;
      continue;
    }
    TAG.lastIndex = at;
    const tag = TAG.exec(html);
    if (!tag) return null;
    const name = tag[2].toLowerCase();
    if (tag[1]) {
      if (tag[3] || tag[4] || open.pop() !== name) return null;
      out.push({ type: "close", name });
    } else {
      // Browsers ignore the slash of other elements.
      if (tag[4] && !VOID.has(name)) return null;
      out.push({ type: "open", name, attrs: tag[3] });
      if (!VOID.has(name)) open.push(name);
    }
    at = TAG.lastIndex;
  }
  return open.length === 0 ? out : null;
}

/**
 * Attributes in order with decoded values. Returns null if one is repeated or has an unknown entity.
 *
 * @param {string} text
 * @returns {Map<string, string> | null}
 */
export function attributes(text) {
  const out = new Map();
  for (const [, name, double, single, bare] of text.matchAll(ATTR)) {
    const value = decode(double ?? single ?? bare ?? "");
    const key = name.toLowerCase();
    if (value === null || out.has(key)) return null;
    out.set(key, value);
  }
  return out;
}

/** The value of an attribute, or null. */
export function attribute(text, name) {
  return attributes(text)?.get(name) ?? null;
}

/**
 * Attributes as text with one of them changed, added at the end, or removed if the value is null.
 *
 * @param {string} text
 * @param {string} name
 * @param {string | null} value
 */
export function withAttribute(text, name, value) {
  let found = false;
  const written = value === null ? "" : `${name}="${escapeAttribute(value)}"`;
  const out = text.replace(ATTR, (whole, key) => {
    if (key.toLowerCase() !== name) return whole;
    found = true;
    return written;
  });
  if (found) return value === null ? out.replace(/[ \t\n\f\r]+(?=[ \t\n\f\r]|$)/g, "") : out;
  return value === null ? text : `${text} ${written}`;
}

/** Text for markup, as browsers write it. */
export function escapeText(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\u00a0", "&nbsp;");
}

/** A value for double quotes, as the block editor writes it. */
export function escapeAttribute(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
