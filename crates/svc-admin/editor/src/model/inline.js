// Text with formats: read from markup, and written.

import { PHRASING } from "../blocks/equal.js";
import { attributes, escapeAttribute, escapeText } from "../blocks/html.js";
import { schema } from "./schema.js";

const { marks, nodes } = schema;

/** The mark of an element, or null if there is none. */
function markOf(name, html) {
  if (!PHRASING.has(name)) return null;
  if (name === "a") {
    const attrs = attributes(html);
    if (!attrs?.has("href")) return marks.tag.create({ name, html });
    return marks.link.create({ href: attrs.get("href"), rest: html.replace(HREF, "") });
  }
  if (html === "") {
    if (name === "strong" || name === "b") return marks.strong.create({ tag: name });
    if (name === "em" || name === "i") return marks.em.create({ tag: name });
    if (name === "s" || name === "del" || name === "strike") return marks.strike.create({ tag: name });
    if (name === "sub" || name === "sup" || name === "code") return marks[name].create();
  }
  return marks.tag.create({ name, html });
}

const HREF = /[ \t\n\f\r]+href[ \t\n\f\r]*=[ \t\n\f\r]*(?:"[^"]*"|'[^']*'|[^ \t\n\f\r"'=<>`]+)/i;

/**
 * Reads tokens as text with formats. Returns null if they have anything else.
 *
 * @param {import("../blocks/html.js").Token[]} tokens
 * @param {boolean} pre whether white space stays as it is
 * @returns {import("prosemirror-model").Node[] | null}
 */
export function readInline(tokens, pre = false) {
  const out = [];
  const open = [];
  let active = [];
  // White space at the start, at the end and next to line breaks has no meaning.
  let trim = !pre;
  for (const token of tokens) {
    if (token.type === "text") {
      let text = pre ? token.text : token.text.replace(/[ \t\n\f\r]+/g, " ");
      if (trim) text = text.replace(/^ /, "");
      if (text === "") continue;
      trim = !pre && text.endsWith(" ");
      out.push(schema.text(text, active));
    } else if (token.type === "open" && token.name === "br") {
      if (token.attrs !== "") return null;
      if (!pre) dropSpace(out);
      out.push(nodes.hard_break.create(null, null, active));
      trim = !pre;
    } else if (token.type === "open" && token.name === "img") {
      out.push(nodes.picture.create({ html: token.attrs }, null, active));
      trim = false;
    } else if (token.type === "open") {
      const mark = markOf(token.name, token.attrs);
      // A format within the same one cannot be held.
      if (!mark || (mark.type !== marks.tag && mark.type.isInSet(active))) return null;
      open.push(active);
      active = mark.addToSet(active);
    } else if (token.type === "close") {
      active = open.pop() ?? [];
    } else {
      return null;
    }
  }
  if (!pre) dropSpace(out);
  return out;
}

/** Removes the space at the end. */
function dropSpace(out) {
  const last = out.at(-1);
  if (!last?.isText || !last.text.endsWith(" ")) return;
  out.pop();
  if (last.text.length > 1) out.push(schema.text(last.text.slice(0, -1), last.marks));
}

function openTag({ type, attrs }) {
  switch (type) {
    case marks.link: return `<a href="${escapeAttribute(attrs.href)}"${attrs.rest}>`;
    case marks.tag: return `<${attrs.name}${attrs.html}>`;
    default: return `<${attrs.tag ?? type.name}>`;
  }
}

function closeTag({ type, attrs }) {
  return `</${type === marks.link ? "a" : (attrs.name ?? attrs.tag ?? type.name)}>`;
}

/**
 * Markup of a node's text. A format that extends further is outside of a shorter one.
 *
 * @param {import("prosemirror-model").Node} node
 */
export function writeInline(node) {
  const children = node.children;
  const open = [];
  let out = "";
  children.forEach((child, n) => {
    // Close the first format that ends here, and those within it.
    const keep = open.findIndex((mark) => !mark.isInSet(child.marks));
    if (keep >= 0) while (open.length > keep) out += closeTag(open.pop());
    const reach = (mark) => {
      let end = n + 1;
      while (end < children.length && mark.isInSet(children[end].marks)) end += 1;
      return end;
    };
    const begin = child.marks.filter((mark) => !mark.isInSet(open));
    for (const [mark] of begin.map((mark) => [mark, reach(mark)]).sort((a, b) => b[1] - a[1])) {
      out += openTag(mark);
      open.push(mark);
    }
    if (child.isText) out += escapeText(child.text);
    else if (child.type === nodes.hard_break) out += "<br>";
    else out += `<img${child.attrs.html}/>`;
  });
  while (open.length > 0) out += closeTag(open.pop());
  return out;
}
