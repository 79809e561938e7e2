// Makes blocks of classic content, as the block editor's "Convert to blocks" does for what is known here. Everything else
// stays as it is.
//
// Classic content is HTML in which blank lines separate paragraphs and line ends are line breaks (WordPress's `wpautop`).

import { Fragment, Slice } from "prosemirror-model";
import { attribute, attributes, escapeAttribute, isVoid, tokens, withAttribute } from "../blocks/html.js";
import { PHRASING } from "../blocks/equal.js";
import { stringify } from "../blocks/json.js";
import { split } from "../blocks/pieces.js";
import { printBlock } from "../model/print.js";
import { readBlock } from "../model/read.js";
import { readInline } from "../model/inline.js";
import { MAX_SPAN, heading, orderedList, schema } from "../model/schema.js";
import { rectangular } from "./paste.js";

const { nodes } = schema;

/** Content that is longer is not converted. */
const MAX_LENGTH = 2_000_000;
/** Elements within elements beyond this depth are not converted. */
const MAX_DEPTH = 40;
const BLANK = /\n[ \t]*\n[ \t\n]*/;
const SHORTCODE = /\[\/?[a-zA-Z][\w-]*(?:[\s\]/=]|$)/;

/**
 * The blocks of classic content, or null if it has anything that would not be kept.
 *
 * @param {string} source
 * @returns {import("prosemirror-model").Node[] | null}
 */
export function convert(source) {
  if (source.length > MAX_LENGTH) return null;
  const list = tokens(source.replace(/\r\n?/g, "\n"));
  const blocks = list && depthOf(list) <= MAX_DEPTH ? flow(list) : null;
  return blocks?.length > 0 && blocks.every(isReadable) ? blocks : null;
}

/** Whether a block is edited as what it is after it was stored. */
function isReadable(block) {
  if (block.type === nodes.opaque) return true;
  const [read, ...more] = split(printBlock(block)).map((piece) => readBlock(piece));
  return read?.type === block.type && more.length === 0;
}

function depthOf(list) {
  let depth = 0;
  let most = 0;
  for (const { type, name } of list) {
    if (type === "open" && !isVoid(name)) most = Math.max(most, (depth += 1));
    if (type === "close") depth -= 1;
  }
  return most;
}

/** An element of a list of tokens: the tokens from `at` to its end. */
function elementAt(list, at) {
  let depth = 0;
  for (let end = at; end < list.length; end += 1) {
    if (list[end].type === "open" && !isVoid(list[end].name)) depth += 1;
    if (list[end].type === "close") depth -= 1;
    if (depth === 0) return list.slice(at, end + 1);
  }
  return null;
}

/** Blocks of text and elements that follow each other. */
function flow(list) {
  const out = [];
  let paragraph = [];
  const end = () => {
    const made = paragraph.length > 0 ? textBlocks(paragraph, "") : [];
    paragraph = [];
    if (made) out.push(...made);
    return made !== null;
  };
  for (let at = 0; at < list.length; ) {
    const token = list[at];
    if (token.type === "text") {
      const [first, ...more] = token.text.split(BLANK);
      if (first !== "") paragraph.push({ type: "text", text: first });
      for (const text of more) {
        if (!end()) return null;
        if (text !== "") paragraph.push({ type: "text", text });
      }
      at += 1;
      continue;
    }
    if (token.type === "comment") {
      const block = marker(token.text);
      if (!block || !end()) return null;
      out.push(block);
      at += 1;
      continue;
    }
    const element = elementAt(list, at);
    if (!element) return null;
    at += element.length;
    if (PHRASING.has(token.name) || token.name === "img" || token.name === "br") {
      if (element.some(({ type, text }) => type === "text" && BLANK.test(text))) return null;
      paragraph.push(...element);
      continue;
    }
    const made = end() && blocksOf(token, element.slice(1, -1));
    if (!made) return null;
    out.push(...made);
  }
  return end() ? out : null;
}

/** `<!--more-->` and `<!--nextpage-->`. */
function marker(text) {
  const name = text.trim();
  if (name !== "more" && name !== "nextpage") return null;
  return nodes.opaque.create({ name: `core/${name}`, source: `<!-- wp:${name} -->\n<!--${name}-->\n<!-- /wp:${name} -->` });
}

/** The blocks of an element, or null. */
function blocksOf({ name, attrs }, inside) {
  switch (name) {
    case "p":
      return textBlocks(inside, attrs);
    case "hr":
      return [nodes.separator.create()];
    case "ul":
    case "ol":
      return one(listOf(name, attrs, inside));
    case "blockquote": {
      const blocks = attrs === "" ? flow(inside) : null;
      return blocks?.length > 0 ? one(valid(nodes.quote, null, blocks)) : null;
    }
    case "table":
      return one(tableOf(inside));
    case "pre":
      return one(preOf(attrs, inside));
    default:
      return /^h[1-6]$/.test(name) ? one(headingOf(Number(name[1]), attrs, inside)) : null;
  }
}

const one = (node) => (node ? [node] : null);

function valid(type, attrs, content) {
  return content && type.validContent(Fragment.from(content)) ? type.create(attrs, content) : null;
}

/** Line ends become line breaks. Null if there are blank lines. */
function lines(list) {
  const out = [];
  const isBreak = (token) => token?.type === "open" && token.name === "br";
  const { length } = list;
  for (const [n, token] of list.entries()) {
    if (token.type !== "text") {
      out.push(token);
      continue;
    }
    let { text } = token;
    if (n === 0) text = text.trimStart();
    if (n === length - 1) text = text.trimEnd();
    if (BLANK.test(text)) return null;
    for (const [line, part] of text.split(/[ \t]*\n[ \t]*/).entries()) {
      if (line > 0 && !isBreak(out.at(-1))) out.push({ type: "open", name: "br", attrs: "" });
      if (part !== "") out.push({ type: "text", text: part });
    }
  }
  while (isBreak(out.at(-1))) out.pop();
  return out;
}

/** Text with formats, without shortcodes, or null. */
function textOf(list) {
  if (list.some(({ type, text }) => type === "text" && SHORTCODE.test(text))) return null;
  const broken = lines(list);
  return broken && readInline(broken);
}

/** The alignment that is all that attributes have; "" for none, null if they have anything else. */
function alignment(attrs) {
  if (attrs.trim() === "") return "";
  const all = attributes(attrs);
  if (all?.size !== 1) return null;
  const style = /^\s*text-align:\s*(left|center|right)\s*;?\s*$/.exec(all.get("style") ?? "");
  return style?.[1] ?? (/^(?:left|center|right)$/.test(all.get("align") ?? "") ? all.get("align") : null);
}

/** A paragraph, with the pictures that are no part of its text before it; or a shortcode that is all of it. */
function textBlocks(list, attrs) {
  const align = alignment(attrs);
  if (align === null) return null;
  const [only, ...more] = list;
  if (more.length === 0 && only?.type === "text" && attrs === "" && /^\s*\[[a-zA-Z][\w-]*(?:\s[^[\]<>]*)?\/?\]\s*$/.test(only.text)) {
    return [nodes.opaque.create({ name: "core/shortcode", source: `<!-- wp:shortcode -->\n${only.text.trim()}\n<!-- /wp:shortcode -->` })];
  }
  const pictures = [];
  const rest = [];
  const hasText = list.some(({ type, text }) => type === "text" && text.trim() !== "");
  for (let at = 0; at < list.length; ) {
    const element = list[at].type === "open" ? elementAt(list, at) : [list[at]];
    if (!element) return null;
    at += element.length;
    const picture = pictureOf(element, hasText);
    if (picture === undefined) rest.push(...element);
    else if (picture === null) return null;
    else pictures.push(picture);
  }
  const text = textOf(rest);
  if (!text) return null;
  if (text.length === 0) return pictures;
  const paragraph = nodes.paragraph.create(align === "" ? null : { json: stringify({ align }), html: ` class="has-text-align-${align}"` }, text);
  return [...pictures, paragraph];
}

/** The image block of a picture that stands alone or is aligned; null if it has more than the block holds, undefined if it stays in the text. */
function pictureOf(element, hasText) {
  let [img] = element;
  let link = null;
  if (img.name === "a") {
    const inner = element.slice(1, -1).filter(({ type, text }) => type !== "text" || text.trim() !== "");
    if (inner.length !== 1) return undefined;
    link = img.attrs;
    [img] = inner;
  }
  if (img?.type !== "open" || img.name !== "img") return undefined;
  const all = attributes(img.attrs);
  if (!all?.get("src")) return null;
  const names = (all.get("class") ?? "").split(/\s+/);
  const align = names.map((name) => /^align(left|right|center)$/.exec(name)?.[1]).find(Boolean);
  if (hasText && !align) return undefined;
  // The sizes are those of the file, which the block shows as it is.
  if ([...all.keys()].some((name) => !["src", "alt", "title", "class", "width", "height", "srcset", "sizes", "loading", "decoding", "border"].includes(name))) return null;
  const id = Number(names.map((name) => /^wp-image-(\d+)$/.exec(name)?.[1]).find(Boolean)) || null;
  const title = all.get("title") ? ` title="${escapeAttribute(all.get("title"))}"` : "";
  const written = ` src="${escapeAttribute(all.get("src"))}" alt="${escapeAttribute(all.get("alt") ?? "")}"${id ? ` class="wp-image-${id}"` : ""}${title}`;
  const json = stringify({ ...(id ? { id } : {}), ...(align ? { align } : {}), ...(link === null ? {} : { linkDestination: "custom" }) });
  return nodes.image.create({ img: written, link, json, html: ` class="wp-block-image${align ? ` align${align}` : ""}"` });
}

function headingOf(level, attrs, inside) {
  const id = attribute(attrs, "id");
  const align = alignment(withAttribute(attrs, "id", null));
  const text = align === null ? null : textOf(inside);
  if (!text) return null;
  const base = heading(level);
  const json = stringify({ ...(align === "" ? {} : { textAlign: align }), ...(level === 2 ? {} : { level }) });
  const html = ` class="wp-block-heading${align === "" ? "" : ` has-text-align-${align}`}"`;
  return valid(nodes.heading, { ...base, json, html: id ? withAttribute(html, "id", id) : html }, text);
}

function preOf(attrs, inside) {
  if (attrs !== "") return null;
  const list = inside.map((token, n) => (n === 0 && token.type === "text" ? { ...token, text: token.text.replace(/^\n/, "") } : token));
  const [open] = list;
  if (open?.name === "code" && open.attrs === "" && list.length <= 3 && list.at(-1).type === "close") {
    const [text] = list.slice(1, -1);
    if (text && text.type !== "text") return null;
    return nodes.code_block.create(null, text ? schema.text(text.text.replace(/\n$/, "")) : null);
  }
  const text = readInline(list, true);
  return text?.length > 0 ? valid(nodes.preformatted, null, text) : null;
}

/** Elements between which there is white space only, or null. */
function elements(list) {
  const out = [];
  for (let at = 0; at < list.length; ) {
    const token = list[at];
    if (token.type === "text" && token.text.trim() === "") {
      at += 1;
      continue;
    }
    const element = token.type === "open" ? elementAt(list, at) : null;
    if (!element) return null;
    out.push({ ...token, inside: element.slice(1, -1) });
    at += element.length;
  }
  return out;
}

function listOf(name, attrs, inside) {
  const start = name === "ol" ? attribute(attrs, "start") : null;
  if (withAttribute(attrs, "start", null).trim() !== "") return null;
  const items = elements(inside)?.map(itemOf);
  if (!items?.length || !items.every(Boolean)) return null;
  return nodes.list.create(name === "ol" ? orderedList(start) : null, items);
}

function itemOf({ name, attrs, inside }) {
  if (name !== "li" || attrs !== "") return null;
  const nested = inside.findIndex((token) => token.type === "open" && (token.name === "ul" || token.name === "ol"));
  const text = textOf(nested < 0 ? inside : trimEnd(inside.slice(0, nested)));
  const lists = nested < 0 ? [] : elements(inside.slice(nested))?.map((list) => (list.name === "ul" || list.name === "ol" ? listOf(list.name, list.attrs, list.inside) : null));
  if (!text || !lists?.every(Boolean)) return null;
  const paragraph = valid(nodes.paragraph, null, text);
  return paragraph && nodes.list_item.create(null, [paragraph, ...lists]);
}

function trimEnd(list) {
  const last = list.at(-1);
  return last?.type === "text" ? [...list.slice(0, -1), { ...last, text: last.text.trimEnd() }] : list;
}

/** A table without its widths, borders and classes, as the block editor converts it. */
function tableOf(inside) {
  const rows = [];
  const caption = [];
  for (const part of elements(inside) ?? [{ name: "" }]) {
    const section = { thead: "head", tbody: "body", tfoot: "foot" }[part.name];
    if (part.name === "colgroup") continue;
    if (part.name === "caption") {
      const text = textOf(part.inside);
      if (!text) return null;
      caption.push(...text);
    } else if (part.name === "tr") {
      rows.push(rowOf(part, "body"));
    } else {
      const list = section && elements(part.inside);
      if (!list) return null;
      rows.push(...list.map((row) => rowOf(row, section)));
    }
  }
  const order = ["head", "body", "foot"];
  if (rows.length === 0 || !rows.every(Boolean)) return null;
  const sorted = order.flatMap((section) => rows.filter((row) => row.attrs.section === section));
  const table = nodes.table.create(null, [nodes.table_grid.create(null, sorted), nodes.caption.create(null, caption)]);
  return rectangular(new Slice(Fragment.from(table), 0, 0)).content.firstChild;
}

function rowOf({ name, inside }, section) {
  if (name !== "tr") return null;
  const cells = elements(inside)?.map((cell) => {
    const span = (key) => Math.max(1, Math.min(Number(attribute(cell.attrs, key)) || 1, MAX_SPAN));
    const text = cell.name === "td" || cell.name === "th" ? textOf(cell.inside) : null;
    return text && valid(cell.name === "th" || section === "head" ? nodes.table_header : nodes.table_cell, { colspan: span("colspan"), rowspan: span("rowspan") }, text);
  });
  return cells?.every(Boolean) ? nodes.table_row.create({ section }, cells) : null;
}
