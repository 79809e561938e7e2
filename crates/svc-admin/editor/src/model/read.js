// Reads a stored block to a node of the document.

import { TableMap } from "prosemirror-tables";
import { attribute, attributes, tokens, withAttribute } from "../blocks/html.js";
import { parse } from "../blocks/json.js";
import { same } from "../blocks/equal.js";
import { MAX_SPAN, schema } from "./schema.js";
import { readInline } from "./inline.js";
import { printBlock } from "./print.js";

const { nodes } = schema;

/**
 * Reads a block. One that has anything that its node would not hold becomes an opaque one: the node is printed and
 * compared with what is stored.
 *
 * @param {import("../blocks/pieces.js").Piece} piece
 * @returns {import("prosemirror-model").Node}
 */
export function readBlock(piece) {
  const read = piece.whole && READERS[piece.name];
  if (read && piece.closer === piece.name && isShallow(piece)) {
    const attrs = parse(piece.json);
    const node = attrs && read(piece, attrs);
    if (node) {
      const printed = printBlock(node);
      if (printed === piece.source || same(printed, piece.source)) return node;
    }
  }
  return nodes.opaque.create({ name: piece.name, source: piece.source });
}

/** Blocks within blocks beyond this depth are not edited: each level is printed and compared again. */
const MAX_DEPTH = 24;

/** Whether the blocks within the block are at most that deep. */
function isShallow(piece) {
  let level = [piece];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((block) => block.inside.filter((part) => typeof part !== "string"));
  }
  return true;
}

/** The text of a block that has no blocks within, or null. */
function markup(piece) {
  if (piece.inside.some((part) => typeof part !== "string")) return null;
  return piece.inside.join("");
}

/** The element that is all of a list of tokens: its name, attributes and content. */
function only(list, ...names) {
  const [first, last] = [list?.[0], list?.at(-1)];
  if (first?.type !== "open" || !names.includes(first.name) || last?.type !== "close") return null;
  let depth = 0;
  for (const [n, token] of list.entries()) {
    if (token.type === "open" && !VOID.has(token.name)) depth += 1;
    if (token.type === "close") depth -= 1;
    if (depth === 0 && n < list.length - 1) return null;
  }
  return { name: first.name, attrs: first.attrs, inside: list.slice(1, -1) };
}

const VOID = new Set(["br", "img", "hr"]);

/** Tokens without white space at both ends. */
function trimmed(list) {
  const blank = (token) => token?.type === "text" && /^[ \t\n\f\r]*$/.test(token.text);
  let [start, end] = [0, list?.length ?? 0];
  while (start < end && blank(list[start])) start += 1;
  while (end > start && blank(list[end - 1])) end -= 1;
  return list?.slice(start, end) ?? null;
}

/** Children of a list of tokens, one list each; text between them must be white space. */
function children(list) {
  const out = [];
  let depth = 0;
  let from = 0;
  for (const [n, token] of list.entries()) {
    if (depth === 0 && token.type === "text") {
      if (/[^ \t\n\f\r]/.test(token.text)) return null;
      continue;
    }
    if (depth === 0) from = n;
    if (token.type === "open" && !VOID.has(token.name)) depth += 1;
    if (token.type === "close") depth -= 1;
    if (depth === 0) out.push(list.slice(from, n + 1));
  }
  return out;
}

function create(type, attrs, content) {
  return content && type.validContent(fragment(content)) ? type.create(attrs, content) : null;
}

function fragment(content) {
  return nodes.doc.create(null, content).content;
}

/** A block whose text is in one element. */
const textBlock = (type, name) => (piece) => {
  const element = only(trimmed(tokens(markup(piece) ?? "<")), name);
  return element && create(nodes[type], { json: piece.json, html: element.attrs }, readInline(element.inside, name === "pre"));
};

function heading(piece, attrs) {
  const level = attrs.level ?? 2;
  const element = only(trimmed(tokens(markup(piece) ?? "<")), `h${level}`);
  return element && create(nodes.heading, { json: piece.json, html: element.attrs, level }, readInline(element.inside));
}

function code(piece) {
  const pre = only(trimmed(tokens(markup(piece) ?? "<")), "pre");
  const inner = pre && only(pre.inside, "code");
  if (!inner || inner.attrs !== "" || inner.inside.some((token) => token.type !== "text")) return null;
  const text = inner.inside.map((token) => token.text).join("");
  if (text.includes("\r")) return null;
  return nodes.code_block.create({ json: piece.json, html: pre.attrs }, text ? schema.text(text) : null);
}

function html(piece) {
  const inside = markup(piece);
  // Exactly the line breaks that the block editor writes around it.
  if (!inside?.startsWith("\n") || !inside.endsWith("\n") || inside.length < 2) return null;
  const text = inside.slice(1, -1);
  return text.includes("\r") ? null : nodes.html.create({ json: piece.json }, text ? schema.text(text) : null);
}

function separator(piece) {
  const list = trimmed(tokens(markup(piece) ?? "<"));
  if (list?.length !== 1 || list[0].name !== "hr") return null;
  return nodes.separator.create({ json: piece.json, html: list[0].attrs });
}

function image(piece) {
  const figure = only(trimmed(tokens(markup(piece) ?? "<")), "figure");
  const parts = figure && children(figure.inside);
  if (!parts || parts.length < 1 || parts.length > 2) return null;
  let link = null;
  let [picture] = parts;
  const anchor = only(picture, "a");
  if (anchor) [link, picture] = [anchor.attrs, trimmed(anchor.inside)];
  if (picture.length !== 1 || picture[0].name !== "img" || !attributes(picture[0].attrs)) return null;
  const attrs = { json: piece.json, html: figure.attrs, img: picture[0].attrs, link };
  if (parts.length === 1) return nodes.image.create(attrs);
  const caption = only(parts[1], "figcaption");
  const text = caption && readInline(caption.inside);
  return text && create(nodes.image, { ...attrs, caption: caption.attrs }, text);
}

/** Rows and cells of a table that is edited at most. */
const MAX_ROWS = 1000;
const MAX_CELLS = 5000;

function table(piece) {
  const figure = only(trimmed(tokens(markup(piece) ?? "<")), "figure");
  const parts = figure && children(figure.inside);
  const grid = parts?.length <= 2 && only(parts[0], "table");
  const sections = grid && children(grid.inside);
  if (!sections) return null;
  const attrs = { json: piece.json, html: figure.attrs, table: grid.attrs };
  const rows = [];
  for (const part of sections) {
    const section = only(part, "thead", "tbody", "tfoot");
    const list = section && children(section.inside);
    if (!list) return null;
    attrs[section.name.slice(1)] = section.attrs;
    rows.push(...list.map((row) => tableRow(row, section.name.slice(1))));
  }
  const caption = parts[1] ? only(parts[1], "figcaption") : { attrs: undefined, inside: [] };
  const text = caption && create(nodes.caption, { html: caption.attrs }, readInline(caption.inside));
  if (!text || rows.length === 0 || !rows.every(Boolean)) return null;
  const content = nodes.table_grid.create(null, rows);
  return isRectangular(content) ? nodes.table.create(attrs, [content, text]) : null;
}

function tableRow(part, section) {
  const row = only(part, "tr");
  const cells = row && children(row.inside)?.map((inner) => {
    const cell = only(inner, "td", "th");
    if (!cell) return null;
    let html = cell.attrs;
    const spans = {};
    for (const name of ["colspan", "rowspan"]) {
      const value = attribute(html, name);
      if (value === null) continue;
      if (!/^[1-9]\d{0,2}$/.test(value) || Number(value) > MAX_SPAN) return null;
      spans[name] = Number(value);
      html = withAttribute(html, name, null);
    }
    return create(cell.name === "th" ? nodes.table_header : nodes.table_cell, { html, ...spans }, readInline(cell.inside));
  });
  return cells?.every(Boolean) ? nodes.table_row.create({ html: row.attrs, section }, cells) : null;
}

/** Whether each row has a cell in each column, and no cell extends beyond its section. */
function isRectangular(grid) {
  let width = 0;
  grid.firstChild.forEach((cell) => (width += cell.attrs.colspan));
  if (grid.childCount > MAX_ROWS || width * grid.childCount > MAX_CELLS) return false;
  for (const [n, row] of grid.children.entries()) {
    if (row.childCount > width) return false;
    for (const cell of row.children) {
      if (cell.attrs.colspan > width || grid.maybeChild(n + cell.attrs.rowspan - 1)?.attrs.section !== row.attrs.section) return false;
    }
  }
  return !TableMap.get(grid).problems;
}

// Lists and quotes have blocks within their elements: the text before, between and after those blocks is read apart.

/** Splits the inside of a block to the text before its inner blocks, the blocks, and the text after them. */
function around(piece) {
  const first = piece.inside.findIndex((part) => typeof part !== "string");
  if (first < 0) return null;
  const last = piece.inside.findLastIndex((part) => typeof part !== "string");
  const blocks = [];
  for (const part of piece.inside.slice(first, last + 1)) {
    if (typeof part !== "string") blocks.push(part);
    else if (/[^ \t\n\f\r]/.test(part)) return null;
  }
  return { before: piece.inside.slice(0, first).join(""), blocks, after: piece.inside.slice(last + 1).join("") };
}

const OPEN = /^[ \t\n\f\r]*<([a-z]+)((?:\s[^<>]*)?)>([^]*)$/;

function list(piece, attrs) {
  const ordered = attrs.ordered === true;
  const common = { json: piece.json, ordered };
  const parts = around(piece);
  if (!parts) return plainList(trimmed(tokens(markup(piece) ?? "<")), common);
  const open = OPEN.exec(parts.before);
  if (!open || open[1] !== (ordered ? "ol" : "ul") || open[3].trim() !== "") return null;
  const items = parts.blocks.map((block) => (block.name === "core/list-item" && block.closer === block.name ? listItem(block) : null));
  return items.every(Boolean) ? nodes.list.create({ ...common, html: open[2] }, items) : null;
}

function listItem(piece) {
  const parts = around(piece);
  const open = OPEN.exec(parts ? parts.before : piece.inside.join(""));
  if (!open || open[1] !== "li") return null;
  const text = parts ? open[3] : open[3].replace(/<\/li>[ \t\n\f\r]*$/, "");
  const inline = readInline(tokens(text) ?? [{ type: "comment", text: "" }]);
  if (!inline) return null;
  const lists = (parts?.blocks ?? []).map((block) => {
    const attrs = block.name === "core/list" && block.closer === block.name && parse(block.json);
    return attrs ? list(block, attrs) : null;
  });
  const paragraph = create(nodes.paragraph, null, inline);
  if (!paragraph || !lists.every(Boolean)) return null;
  return nodes.list_item.create({ json: piece.json, html: open[2] }, [paragraph, ...lists]);
}

/** A list as before WordPress 6.1: elements without comments. */
function plainList(inside, common) {
  const element = only(inside, common.ordered ? "ol" : "ul");
  const items = element && children(element.inside)?.map(plainItem);
  if (!items?.length || !items.every(Boolean)) return null;
  return nodes.list.create({ ...common, html: element.attrs, plain: true }, items);
}

function plainItem(part) {
  const item = only(part, "li");
  if (!item) return null;
  const nested = item.inside.findIndex((token) => token.type === "open" && (token.name === "ul" || token.name === "ol"));
  const text = readInline(nested < 0 ? item.inside : item.inside.slice(0, nested));
  const paragraph = text && create(nodes.paragraph, null, text);
  const lists = (nested < 0 ? [] : children(item.inside.slice(nested)))?.map((inner) => plainList(inner, { json: "", ordered: inner[0].name === "ol" }));
  if (!paragraph || !lists?.every(Boolean)) return null;
  return nodes.list_item.create({ html: item.attrs }, [paragraph, ...lists]);
}

function quote(piece) {
  const parts = around(piece);
  if (!parts) return plainQuote(piece);
  const open = OPEN.exec(parts.before);
  const close = /^[ \t\n\f\r]*([^]*)<\/blockquote>[ \t\n\f\r]*$/.exec(parts.after);
  if (!open || open[1] !== "blockquote" || open[3].trim() !== "" || !close) return null;
  const content = parts.blocks.map(readBlock);
  if (close[1].trim() !== "") {
    const cite = citation(trimmed(tokens(close[1])));
    if (!cite) return null;
    content.push(cite);
  }
  return create(nodes.quote, { json: piece.json, html: open[2] }, content);
}

function citation(list) {
  const element = only(list, "cite");
  return element && create(nodes.citation, { html: element.attrs }, readInline(element.inside));
}

/** A quote as before WordPress 6.0: paragraphs without comments. */
function plainQuote(piece) {
  const element = only(trimmed(tokens(markup(piece) ?? "<")), "blockquote");
  const content = element && children(element.inside)?.map((part) => {
    const paragraph = only(part, "p");
    return paragraph ? create(nodes.paragraph, { html: paragraph.attrs }, readInline(paragraph.inside)) : citation(part);
  });
  if (!content?.length || !content.every(Boolean)) return null;
  return create(nodes.quote, { json: piece.json, html: element.attrs, plain: true }, content);
}

const READERS = {
  "core/paragraph": textBlock("paragraph", "p"),
  "core/preformatted": textBlock("preformatted", "pre"),
  "core/heading": heading,
  "core/list": list,
  "core/quote": quote,
  "core/code": code,
  "core/html": html,
  "core/image": image,
  "core/separator": separator,
  "core/table": table,
};
