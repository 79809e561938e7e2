// Cleans HTML of Word, Google Docs and web pages: structure stays, fonts and classes go.

import { escapeAttribute } from "../blocks/html.js";
import { parseQuietly, styles } from "./quiet.js";

/**
 * @param {string} html
 * @returns {HTMLElement} the body of a document of its own, with elements that the editor's document knows
 */
export function clean(html) {
  const body = parseQuietly(html);
  for (const element of body.querySelectorAll("style, script, meta, link, title, noscript, template, xml")) element.remove();
  comments(body);
  attributes(body);
  wordLists(body);
  for (const element of [...body.querySelectorAll("*")]) if (element.isConnected) replace(element);
  for (const table of [...body.querySelectorAll("table")]) if (table.isConnected) replaceTable(table);
  lists(body);
  emptyParagraphs(body);
  return body;
}

/** Removes attributes that the editor gives a meaning of its own. */
function attributes(body) {
  for (const element of body.querySelectorAll("*")) {
    for (const { name } of [...element.attributes]) if (name.startsWith("data-") && name !== "data-was-style") element.removeAttribute(name);
  }
}

function comments(body) {
  const walker = body.ownerDocument.createTreeWalker(body, 128 /* comments */);
  const found = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  for (const comment of found) comment.remove();
}

function rename(element, name) {
  const out = element.ownerDocument.createElement(name);
  out.append(...element.childNodes);
  element.replaceWith(out);
  return out;
}

function unwrap(element) {
  element.replaceWith(...element.childNodes);
}

/** What an element becomes. */
function replace(element) {
  const tag = element.tagName.toLowerCase();
  const style = styles(element);
  if (tag.includes(":")) return unwrap(element);
  if (style.display === "none" || style["mso-hide"] === "all") return element.remove();
  if (tag === "img") return replaceImage(element);
  // Google Docs wraps all in a bold element that is not bold; formats are styles of spans.
  if ((tag === "b" || tag === "strong") && /^(?:normal|400)$/.test(style["font-weight"] ?? "")) return unwrap(element);
  if ((tag === "i" || tag === "em") && style["font-style"] === "normal") return unwrap(element);
  if (tag === "span" || tag === "font") return replaceSpan(element);
  if (tag === "a" && !element.getAttribute("href")) return unwrap(element);
  if (tag === "a" && /^\s*(?:javascript|vbscript|data):/i.test(element.getAttribute("href"))) return unwrap(element);
  if (tag === "u" && !element.hasAttribute("class")) return unwrap(element);
  if (tag === "p") {
    const level = /^(?:MsoTitle|MsoHeading(\d)|Heading(\d))$/.exec(element.className);
    if (level) return rename(element, `h${level[1] ?? level[2] ?? 1}`);
    if (/^Mso(?:Intense)?Quote$/.test(element.className)) {
      const quote = element.ownerDocument.createElement("blockquote");
      element.replaceWith(quote);
      quote.append(element);
    }
  }
  return undefined;
}

function replaceSpan(span) {
  const style = styles(span);
  const marks = [];
  const heading = span.closest("h1, h2, h3, h4, h5, h6");
  if (!heading && (style["font-weight"] === "bold" || Number(style["font-weight"]) >= 600)) marks.push("strong");
  if (style["font-style"] === "italic") marks.push("em");
  const decoration = `${style["text-decoration"]} ${style["text-decoration-line"]}`;
  if (decoration.includes("line-through")) marks.push("s");
  if (style["vertical-align"] === "super") marks.push("sup");
  if (style["vertical-align"] === "sub") marks.push("sub");
  const content = [...span.childNodes];
  if (span.textContent === "") return unwrap(span);
  let outer = null;
  let inner = null;
  for (const name of marks) {
    const next = span.ownerDocument.createElement(name);
    inner?.append(next);
    outer ??= next;
    inner = next;
  }
  if (!outer) return unwrap(span);
  inner.append(...content);
  return span.replaceWith(outer);
}

/** An image with a URL that others can load becomes a block; others cannot be kept. */
function replaceImage(img) {
  const src = img.getAttribute("src") ?? "";
  if (!/^(?:https?:)?\/\//.test(src)) return img.remove();
  const width = img.getAttribute("width");
  if (width === "1") return img.remove();
  const figure = img.ownerDocument.createElement("figure");
  figure.dataset.block = "image";
  const written = ` src="${escapeAttribute(src)}" alt="${escapeAttribute(img.getAttribute("alt") ?? "")}"`;
  figure.dataset.img = written;
  const around = img.closest("td, th") ? null : img.closest("figure");
  const caption = around?.querySelector("figcaption");
  const text = img.ownerDocument.createElement("figcaption");
  if (caption) text.append(...caption.childNodes);
  figure.append(text);
  (around ?? img).replaceWith(figure);
  return undefined;
}

function replaceTable(table) {
  const figure = table.closest("figure");
  const rows = [...table.rows];
  // A table with one cell is layout.
  if (rows.reduce((sum, row) => sum + row.cells.length, 0) <= 1) {
    const cell = table.querySelector("td, th");
    return table.replaceWith(...(cell?.childNodes ?? []));
  }
  const caption = [...(figure?.children ?? [])].find((child) => child.tagName === "FIGCAPTION") ?? table.caption;
  for (const cell of rows.flatMap((row) => [...row.cells])) {
    const align = styles(cell)["text-align"];
    if (align) cell.dataset.align = align;
    flatten(cell);
  }
  const block = table.ownerDocument.createElement("figure");
  block.dataset.block = "table";
  (figure ?? table).replaceWith(block);
  block.append(table);
  block.append(caption ? rename(flatten(caption), "figcaption") : table.ownerDocument.createElement("figcaption"));
  oneOfEach(table);
  return undefined;
}

/** The first head and the last foot are the table's; further ones are rows like others. */
function oneOfEach(table) {
  const body = table.ownerDocument.createElement("tbody");
  const [head] = table.querySelectorAll("thead");
  const foot = [...table.querySelectorAll("tfoot")].at(-1);
  const rows = [...table.rows].filter((row) => !head?.contains(row) && !foot?.contains(row));
  body.append(...rows);
  table.replaceChildren(...[head, body, foot].filter(Boolean));
}

/** Makes the content of an element text with formats: what was in blocks is on lines of its own. */
function flatten(element) {
  for (const figure of element.querySelectorAll("figure[data-block]")) figure.remove();
  // Of a table within a cell, the rows are lines.
  for (const cell of element.querySelectorAll("td, th")) cell.append(" ");
  for (const inner of element.querySelectorAll("table, thead, tbody, tfoot, caption, td, th")) unwrap(inner);
  for (const inner of [...element.querySelectorAll("p, div, h1, h2, h3, h4, h5, h6, li, ul, ol, blockquote, pre, hr, tr")]) {
    if (inner.textContent.trim() === "") {
      inner.remove();
      continue;
    }
    if (hasTextBefore(inner, element) && inner.previousSibling?.nodeName !== "BR") inner.before(element.ownerDocument.createElement("br"));
    if (inner.nextSibling && inner.nextSibling.textContent.trim() !== "" && inner.nextSibling.nodeType === 3) inner.after(element.ownerDocument.createElement("br"));
    unwrap(inner);
  }
  return element;
}

function hasTextBefore(inner, element) {
  for (let node = inner; node !== element; node = node.parentNode) {
    for (let before = node.previousSibling; before; before = before.previousSibling) if (before.textContent.trim() !== "") return true;
  }
  return false;
}

/** Word writes items of lists as paragraphs with a style that has their level. */
function wordLists(body) {
  let lists = [];
  for (const p of [...body.querySelectorAll("p, h1, h2, h3, h4, h5, h6")]) {
    const level = /\blevel(\d+)/.exec(styles(p)["mso-list"] ?? "");
    if (!level) {
      lists = [];
      continue;
    }
    const depth = Math.min(Number(level[1]), 9);
    const marker = [...p.querySelectorAll("span")].find((span) => styles(span)["mso-list"] === "ignore");
    const text = (marker ?? p).textContent.trim();
    marker?.remove();
    const name = /^(?:\d+|[a-zA-Z]|[ivxIVX]+)[.)]/.test(text) ? "ol" : "ul";
    if (lists.length === 0) {
      const list = body.ownerDocument.createElement(name);
      p.before(list);
      lists.push(list);
    }
    while (lists.length > depth) lists.pop();
    while (lists.length < depth) {
      const list = body.ownerDocument.createElement(name);
      const parent = lists.at(-1);
      (parent.lastElementChild ?? parent.appendChild(body.ownerDocument.createElement("li"))).append(list);
      lists.push(list);
    }
    const item = body.ownerDocument.createElement("li");
    item.append(...p.childNodes);
    p.remove();
    lists.at(-1).append(item);
  }
}

/** Removes paragraphs for space, and those around nothing but images. */
function emptyParagraphs(body) {
  for (const p of [...body.querySelectorAll("p")]) {
    if (p.textContent.trim() === "") p.replaceWith(...p.querySelectorAll("figure[data-block]"));
  }
}

/** Google Docs has inner lists beside the item that they belong to. */
function lists(body) {
  for (const list of [...body.querySelectorAll("ul > ul, ul > ol, ol > ul, ol > ol")]) {
    const item = list.previousElementSibling;
    if (item?.tagName === "LI") item.append(list);
  }
}
