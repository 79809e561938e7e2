// Finds block comments in text, in a single pass. The grammar is WordPress's, as in `svc-content`'s `blocks/scan.rs`.
//
// A comment is `<!--`, white space, optionally `/`, `wp:`, optionally a namespace and `/`, a name, white space,
// optionally attributes in braces and white space, optionally `/`, and `-->`. Attributes end at the first closing brace
// that is followed by white space and the end of the comment.

/**
 * @typedef {object} Delimiter
 * @property {"open" | "close" | "void"} kind
 * @property {string} name as written, possibly without namespace
 * @property {string | null} json text of the attributes with its braces
 * @property {number} start
 * @property {number} end
 */

const WHITE = /[ \t\n\f\r]+/y;
const NAME = /[a-z][a-z0-9_-]*(?:\/[a-z][a-z0-9_-]*)?/y;
const ATTRS_END = /\}[ \t\n\f\r]+(?=\/?-->)/g;

/** The end of what a sticky pattern matches at a position, or -1. */
function after(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/**
 * Yields the block comments of a text in order.
 *
 * @param {string} text
 * @returns {Generator<Delimiter>}
 */
export function* delimiters(text) {
  // The result of the last search for the end of attributes, so that many comments with unfinished attributes do not
  // each search the whole rest.
  let searched = { from: Infinity, brace: -1, after: -1 };

  const attrsEnd = (open) => {
    if (searched.from > open || (searched.brace !== -1 && searched.brace <= open)) {
      ATTRS_END.lastIndex = open + 1;
      const found = ATTRS_END.exec(text);
      searched = found
        ? { from: open, brace: found.index, after: found.index + found[0].length }
        : { from: open, brace: -1, after: -1 };
    }
    return searched;
  };

  const delimiter = (start) => {
    let at = after(WHITE, text, start + 4);
    if (at < 0) return null;
    const closer = text[at] === "/";
    if (closer) at += 1;
    if (!text.startsWith("wp:", at)) return null;
    const nameStart = at + 3;
    const nameEnd = after(NAME, text, nameStart);
    if (nameEnd < 0) return null;
    at = after(WHITE, text, nameEnd);
    if (at < 0) return null;
    let json = null;
    if (text[at] === "{") {
      const end = attrsEnd(at);
      if (end.brace < 0) return null;
      json = text.slice(at, end.brace + 1);
      at = end.after;
    }
    const isVoid = text[at] === "/";
    if (isVoid) at += 1;
    if (!text.startsWith("-->", at)) return null;
    const kind = isVoid ? "void" : closer ? "close" : "open";
    return { kind, name: text.slice(nameStart, nameEnd), json, start, end: at + 3 };
  };

  let at = 0;
  for (;;) {
    const start = text.indexOf("<!--", at);
    if (start < 0) return;
    const found = delimiter(start);
    if (found) {
      yield found;
      at = found.end;
    } else {
      at = start + 4;
    }
  }
}
