// Reads blocks that contain blocks: what is around those stays as it is stored, byte for byte.

import { only, trimmed } from "../blocks/elements.js";
import { tokens } from "../blocks/html.js";
import { same } from "../blocks/equal.js";
import { around } from "../blocks/pieces.js";
import { delimiters } from "../blocks/scan.js";
import { readInline, writeInline } from "./inline.js";
import { OPEN, schema } from "./schema.js";

const { nodes } = schema;

/**
 * How the blocks and parts within a block are read, so that their stored bytes are known.
 *
 * @typedef {object} Inner
 * @property {(parts: (string | import("../blocks/pieces.js").Piece)[]) => import("prosemirror-model").Node[]} blocks
 * @property {(node: import("prosemirror-model").Node, source: string) => import("prosemirror-model").Node} part
 */

/**
 * Reads a block that contains blocks. Returns null if its own markup is more than a wrapper around them, or there is
 * nothing to edit in it.
 *
 * @param {import("../blocks/pieces.js").Piece} piece
 * @param {Inner} inner
 */
export function readShell(piece, inner) {
  const parts = around(piece) ?? emptyShell(piece);
  if (!parts || !isWrapper(parts.before, parts.after)) return null;
  const [comment] = delimiters(piece.source);
  const inside = piece.inside.reduce((sum, part) => sum + (typeof part === "string" ? part : part.source).length, 0);
  const attrs = { name: piece.name, open: piece.source.slice(0, comment.end) + parts.before, close: parts.after + piece.source.slice(comment.end + inside) };
  const read = inner.blocks(parts.inner);
  if (piece.name === "core/gallery") return gallery(attrs, read, inner);
  if (piece.name === "core/details") return details(attrs, read.length > 0 ? read : [nodes.paragraph.create()], inner);
  if (OPEN.has(piece.name)) return valid(nodes.container, attrs, read.length > 0 ? read : [nodes.paragraph.create()]);
  if (!read.some(isEditable)) return null;
  return valid(nodes.frame, attrs, read) ?? valid(nodes.container, attrs, read);
}

function valid(type, attrs, content) {
  return type.validContent(nodes.doc.create(null, content).content) ? type.create(attrs, content) : null;
}

/** Whether there is anything to edit in a block. */
function isEditable(node) {
  return node.type !== nodes.opaque;
}

/** An element without content, in which blocks may be. */
function emptyShell(piece) {
  if (!OPEN.has(piece.name) || piece.inside.some((part) => typeof part !== "string")) return null;
  const inside = piece.inside.join("");
  if (piece.name === "core/details") {
    const at = inside.lastIndexOf("</summary>") + "</summary>".length;
    return { before: inside.slice(0, at), inner: [], after: inside.slice(at) };
  }
  const [, before, after] = /^([^]*>)([ \t\n\f\r]*<\/[^]*)$/.exec(inside) ?? [];
  // The innermost element only.
  const at = before?.search(/<\//);
  return at === -1 ? { before, inner: [], after } : null;
}

const MARK = "blocks";
/** Elements whose content is no markup, or not markup of this document. */
const CLOSED = new Set(["script", "style", "textarea", "title", "template", "iframe", "noscript", "noembed", "noframes", "xmp", "plaintext", "select", "svg", "math", "object"]);

/** Whether blocks are within elements that begin before and end after them. */
function isWrapper(before, after) {
  const list = tokens(`${before}<!--${MARK}-->${after}`);
  if (!list) return false;
  let marks = 0;
  let closed = 0;
  for (const token of list) {
    if (token.type === "comment") {
      if (token.text !== MARK || closed > 0) return false;
      marks += 1;
    } else if (CLOSED.has(token.name)) {
      closed += token.type === "open" ? 1 : -1;
    }
  }
  return marks === 1;
}

function gallery(attrs, read, inner) {
  const found = /^<figcaption[^]*<\/figcaption>/.exec(attrs.close);
  const caption = found ? text(nodes.caption, "figcaption", found[0]) : nodes.caption.create();
  if (!caption || (!found && attrs.close.includes("<figcaption"))) return null;
  const close = found ? attrs.close.slice(found[0].length) : attrs.close;
  const part = found ? inner.part(caption, found[0]) : caption;
  return read.some(isEditable) ? valid(nodes.gallery, { ...attrs, close }, [...read, part]) : null;
}

function details(attrs, read, inner) {
  const at = attrs.open.lastIndexOf("<summary");
  const source = attrs.open.slice(at);
  const summary = at < 0 ? null : text(nodes.summary, "summary", source);
  return summary ? valid(nodes.details, { ...attrs, open: attrs.open.slice(0, at) }, [inner.part(summary, source), ...read]) : null;
}

/** A part of a block that is one element with text; null if the node would not hold all of it. */
function text(type, name, markup) {
  const element = only(trimmed(tokens(markup)), name);
  const content = element && readInline(element.inside);
  if (!content) return null;
  const node = type.create({ html: element.attrs }, content);
  // An empty caption is not written.
  if (type === nodes.caption && node.childCount === 0) return null;
  return same(`<${name}${element.attrs}>${writeInline(node)}</${name}>`, markup) ? node : null;
}
