// Whether two markups say the same: what the editor would write for a block against what is stored. Only a block for
// which this holds is edited as text with formats; all others stay as they are.
//
// Ignored are white space where browsers ignore it, how characters and attributes are quoted, the order of attributes,
// and how overlapping formats are nested (`<em><strong>` and `<strong><em>`).

import { delimiters } from "./scan.js";
import { attributes, tokens } from "./html.js";
import { short } from "./pieces.js";

/** Elements within text. */
export const PHRASING = new Set(
  ("a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt " +
    "u var").split(" "),
);

/** Formats of which two in a row look like one. */
const MERGED = new Set(["b", "del", "em", "i", "ins", "s", "small", "strike", "strong", "sub", "sup", "u"]);

/** @param {string} a @param {string} b */
export function same(a, b) {
  const left = facts(a);
  const right = facts(b);
  return left !== null && right !== null && left.length === right.length && left.every((fact, n) => fact === right[n]);
}

/** What markup says, in order; null if it is not plain HTML. */
function facts(markup) {
  const reader = new Reader();
  let at = 0;
  // The HTML between comments is read as one, because elements contain blocks.
  const comments = [];
  let html = "";
  for (const { kind, name, json, start, end } of delimiters(markup)) {
    html += markup.slice(at, start) + `<!--#${comments.length}-->`;
    comments.push(`${kind} ${short(name)} ${json ?? ""}`);
    at = end;
  }
  html += markup.slice(at);
  const list = tokens(html);
  if (!list) return null;
  for (const token of list) {
    if (token.type === "text") {
      reader.text(token.text);
    } else if (token.type === "comment") {
      if (token.text[0] !== "#") return null;
      reader.boundary(comments[Number(token.text.slice(1))]);
    } else if (token.type === "close") {
      reader.close(token.name);
    } else {
      const attrs = attributes(token.attrs);
      if (!attrs) return null;
      const written = [...attrs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ` ${name}=${value}`);
      reader.open(token.name, written.join(""));
    }
  }
  reader.flush(true);
  return [...reader.out, ...reader.counts()];
}

class Reader {
  out = [];
  formats = [];
  /** The text that is not in `out` yet, with its formats. */
  run = { text: "", key: "" };
  /** Number of pre elements around. */
  pre = 0;
  /** Whether leading white space of the next text is ignored. */
  trim = true;
  seen = new Map();

  text(text) {
    this.add(this.pre ? text : text.replace(/[ \t\n\f\r]+/g, " "));
  }

  add(text) {
    if (!this.pre && this.trim) text = text.replace(/^ /, "");
    if (text === "") return;
    this.trim = !this.pre && text.endsWith(" ");
    const key = this.formats.map((format) => format.key).sort().join("|");
    for (const format of this.formats) format.empty = false;
    if (key !== this.run.key) this.flush(false);
    this.run.key = key;
    this.run.text += text;
  }

  /** Ends a run of text; at the end of a block, white space before it is ignored. */
  flush(atEnd) {
    if (atEnd && !this.pre) this.run.text = this.run.text.replace(/ $/, "");
    if (this.run.text !== "") this.out.push(`${this.run.key}: ${this.run.text}`);
    this.run = { text: "", key: "" };
  }

  boundary(fact) {
    this.flush(true);
    this.out.push(fact);
    this.trim = true;
  }

  open(name, attrs) {
    const key = name + attrs;
    if (PHRASING.has(name)) {
      this.formats.push({ key, name, empty: true });
      if (attrs !== "" || !MERGED.has(name)) this.seen.set(key, (this.seen.get(key) ?? 0) + 1);
    } else if (name === "img") {
      // An image within text, or the one of an image block.
      this.add(`\u0000<${key}>`);
      this.trim = false;
    } else {
      this.boundary(`<${key}>`);
      if (name === "pre") this.pre += 1;
    }
  }

  close(name) {
    if (PHRASING.has(name)) {
      const format = this.formats.pop();
      if (format?.empty) this.out.push(`empty ${format.key}`);
      return;
    }
    this.boundary(`</${name}>`);
    if (name === "pre") this.pre -= 1;
  }

  /** How often each format occurs of which two in a row are not one. */
  counts() {
    return [...this.seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, n]) => `${n} ${key}`);
  }
}
