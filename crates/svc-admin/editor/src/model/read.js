// Reads a stored block to a node of the document.

import { TableMap } from "prosemirror-tables";
import { attribute, attributes, tokens, withAttribute } from "../blocks/html.js";
import { around } from "../blocks/pieces.js";
import { children, only, trimmed } from "../blocks/elements.js";
import { parse } from "../blocks/json.js";
import { same } from "../blocks/equal.js";
import { MAX_SPAN, schema } from "./schema.js";
import { readInline } from "./inline.js";
import { printBlock } from "./print.js";
import { readShell } from "./shell.js";

const { nodes } = schema;

/**
 * Reads a block. One that has anything that its node would not hold becomes an opaque one: the node is printed and
 * compared with what is stored.
 *
 * @param {import("../blocks/pieces.js").Piece} piece
 * @param {import("./shell.js").Inner} [inner] how blocks and parts within the block are read
 * @returns {import("prosemirror-model").Node}
 */
export function readBlock(piece, inner = ANEW) {
  const attrs = piece.whole && piece.closer === piece.name && isShallow(piece) ? parse(piece.json) : null;
  const node = attrs && (checked(READERS[piece.name]?.(piece, attrs), piece) ?? readShell(piece, inner));
  return node ?? nodes.opaque.create({ name: piece.name, source: piece.source });
}

/** Blocks within a block, and parts of it, without what is known of their stored bytes. */
const ANEW = { blocks: (parts) => parts.filter((part) => typeof part !== "string").map((piece) => readBlock(piece)), part: (node) => node };

/** The node, if writing it gives what is stored. */
function checked(node, piece) {
  if (!node) return null;
  const printed = printBlock(node);
  return printed === piece.source || same(printed, piece.source) ? node : null;
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

function button(piece) {
  const block = only(trimmed(tokens(markup(piece) ?? "<")), "div");
  const link = block && only(trimmed(block.inside), "a", "button");
  return link && create(nodes.button, { json: piece.json, html: block.attrs, tag: link.name, link: link.attrs }, readInline(link.inside));
}

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

function embed(piece) {
  const figure = only(trimmed(tokens(markup(piece) ?? "<")), "figure");
  const parts = figure && children(figure.inside);
  const wrapper = parts?.length <= 2 && only(parts[0], "div");
  const list = wrapper && trimmed(wrapper.inside);
  if (list?.length !== 1 || list[0].type !== "text") return null;
  // The URL is on a line of its own, where WordPress looks for it.
  const [, url] = /^[ \t\r]*\n\s*(https?:\/\/\S+)[ \t\r]*\n\s*$/.exec(list[0].text) ?? [];
  if (!url) return null;
  const attrs = { json: piece.json, html: figure.attrs, wrapper: wrapper.attrs, url };
  if (parts.length === 1) return nodes.embed.create(attrs);
  const caption = only(parts[1], "figcaption");
  const text = caption && readInline(caption.inside);
  return text?.length > 0 ? create(nodes.embed, { ...attrs, caption: caption.attrs }, text) : null;
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
  const content = parts.blocks.map((block) => readBlock(block));
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
  "core/button": button,
  "core/embed": embed,
};
