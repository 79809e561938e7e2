// Splits a content to its top-level pieces: blocks, and what is between them. Concatenated, the pieces are the content.

import { delimiters } from "./scan.js";

/**
 * A block, or text that belongs to no block (`name` is null).
 *
 * @typedef {object} Piece
 * @property {string | null} name with namespace
 * @property {string} source the whole piece
 * @property {string} json text of the attributes, "" if there are none
 * @property {string} closer name in the closing comment, "" for blocks without content
 * @property {(string | Piece)[]} inside text and blocks between the comments
 * @property {boolean} whole whether each comment of the piece has its counterpart
 */

/** @returns {Piece} */
function text(source, whole = true) {
  return { name: null, source, json: "", closer: "", inside: [source], whole };
}

/**
 * Splits a content. Never fails.
 *
 * As in WordPress, a closing comment closes the innermost open block whatever its name is. What follows a closing
 * comment without an open block is text, and an unclosed block extends to the end: neither can be separated from what
 * follows it, so each is one piece.
 *
 * @param {string} content
 * @returns {Piece[]}
 */
export function split(content) {
  const pieces = [];
  const open = [];
  let at = 0;

  const add = (piece, start, end) => {
    const parent = open.at(-1);
    if (parent) {
      if (start > parent.at) parent.inside.push(content.slice(parent.at, start));
      parent.inside.push(piece);
      parent.at = end;
    } else {
      if (start > at) pieces.push(text(content.slice(at, start)));
      pieces.push(piece);
      at = end;
    }
  };

  for (const found of delimiters(content)) {
    if (found.kind === "open") {
      open.push({ found, inside: [], at: found.end });
    } else if (found.kind === "void") {
      const { name, json, start, end } = found;
      const source = content.slice(start, end);
      add({ name: full(name), source, json: json ?? "", closer: "", inside: [], whole: true }, start, end);
    } else {
      const block = open.pop();
      if (!block) {
        pieces.push(text(content.slice(at), false));
        return pieces;
      }
      if (found.start > block.at) block.inside.push(content.slice(block.at, found.start));
      const { name, json, start } = block.found;
      const source = content.slice(start, found.end);
      const piece = { name: full(name), source, json: json ?? "", closer: full(found.name), inside: block.inside, whole: true };
      add(piece, start, found.end);
    }
  }
  if (open.length > 0) {
    const { name, json, start } = open[0].found;
    const source = content.slice(start);
    if (start > at) pieces.push(text(content.slice(at, start)));
    pieces.push({ name: full(name), source, json: json ?? "", closer: "", inside: [], whole: false });
  } else if (content.length > at) {
    pieces.push(text(content.slice(at)));
  }
  return pieces;
}

/** A block's name with its namespace. */
function full(name) {
  return name.includes("/") ? name : `core/${name}`;
}

/** A block's name as comments have it: blocks of WordPress without namespace. */
export function short(name) {
  return name.startsWith("core/") ? name.slice(5) : name;
}

/**
 * Splits the inside of a block to the text before its inner blocks, the blocks with the white space between them, and the
 * text after them. Null if there are none, or other text is between them.
 *
 * @param {Piece} piece
 */
export function around(piece) {
  const first = piece.inside.findIndex((part) => typeof part !== "string");
  if (first < 0) return null;
  const last = piece.inside.findLastIndex((part) => typeof part !== "string");
  const inner = piece.inside.slice(first, last + 1);
  if (inner.some((part) => typeof part === "string" && /[^ \t\n\f\r]/.test(part))) return null;
  const blocks = inner.filter((part) => typeof part !== "string");
  return { before: piece.inside.slice(0, first).join(""), inner, blocks, after: piece.inside.slice(last + 1).join("") };
}
