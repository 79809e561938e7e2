// Prints a node of the document as the block editor's `save` of that block does.

import { escapeText } from "../blocks/html.js";
import { writeInline } from "./inline.js";

/**
 * How the blocks and parts within a block are printed: here each anew.
 *
 * @typedef {{blocks: (nodes: Node[]) => string, part: (node: Node, write: (node: Node) => string) => string}} Inner
 * @typedef {import("prosemirror-model").Node} Node
 */
const ANEW = { blocks: (nodes) => nodes.map((node) => printBlock(node)).filter(Boolean).join("\n\n"), part: (node, write) => write(node) };

/**
 * @param {Node} node
 * @param {Inner} [inner]
 * @returns {string} markup without white space around it
 */
export function printBlock(node, inner = ANEW) {
  const { type, attrs } = node;
  switch (type.name) {
    case "opaque":
      return attrs.source;
    case "paragraph":
      return comment("paragraph", attrs.json, `\n<p${attrs.html}>${writeInline(node)}</p>\n`);
    case "heading":
      return comment("heading", attrs.json, `\n<h${attrs.level}${attrs.html}>${writeInline(node)}</h${attrs.level}>\n`);
    case "preformatted":
      return comment("preformatted", attrs.json, `\n<pre${attrs.html}>${writeInline(node)}</pre>\n`);
    case "code_block":
      return comment("code", attrs.json, `\n<pre${attrs.html}><code>${escapeCode(node.textContent)}</code></pre>\n`);
    case "html":
      return comment("html", attrs.json, `\n${node.textContent}\n`);
    case "separator":
      return comment("separator", attrs.json, `\n<hr${attrs.html}/>\n`);
    case "image":
      return comment("image", attrs.json, `\n${printFigure(node)}\n`);
    case "table":
      return comment("table", attrs.json, `\n${printTable(node)}\n`);
    case "container":
    case "frame":
      return attrs.open + inner.blocks(node.children) + attrs.close;
    case "gallery":
      return attrs.open + inner.blocks(node.children.slice(0, -1)) + inner.part(node.lastChild, printCaption) + attrs.close;
    case "details":
      return attrs.open + inner.part(node.firstChild, printSummary) + inner.blocks(node.children.slice(1)) + attrs.close;
    case "button":
      return comment("button", attrs.json, `\n<div${attrs.html}><${attrs.tag}${attrs.link}>${writeInline(node)}</${attrs.tag}></div>\n`);
    case "embed":
      return comment("embed", attrs.json, `\n${printEmbed(node)}\n`);
    case "list":
      return comment("list", attrs.json, `\n${printList(node, attrs.plain)}\n`);
    case "quote":
      return comment("quote", attrs.json, `\n${printQuote(node)}\n`);
    default:
      throw new Error(`${type.name} is no block`);
  }
}

function comment(name, json, inside) {
  return `<!-- wp:${name} ${json}${json && " "}-->${inside}<!-- /wp:${name} -->`;
}

/** Opening brackets would begin shortcodes, and a URL alone on a line an embed. As in the block editor, only the first URL is escaped. */
function escapeCode(text) {
  return escapeText(text)
    .replaceAll("[", "&#91;")
    .replace(/^(\s*https?:)\/\/([^\s<>"]+\s*)$/m, "$1&#47;&#47;$2");
}

function printFigure(node) {
  const { html, img, link, caption } = node.attrs;
  const picture = `<img${img}/>`;
  const linked = link === null ? picture : `<a${link}>${picture}</a>`;
  const text = node.childCount > 0 ? `<figcaption${caption}>${writeInline(node)}</figcaption>` : "";
  return `<figure${html}>${linked}${text}</figure>`;
}

function printEmbed(node) {
  const { html, wrapper, url, caption } = node.attrs;
  const text = node.childCount > 0 ? `<figcaption${caption}>${writeInline(node)}</figcaption>` : "";
  return `<figure${html}><div${wrapper}>\n${escapeText(url)}\n</div>${text}</figure>`;
}

function printTable(node) {
  const { html, table } = node.attrs;
  const [grid, caption] = node.children;
  const sections = ["head", "body", "foot"].map((section) => {
    const rows = grid.children.filter((row) => row.attrs.section === section).map((row) => `<tr${row.attrs.html}>${row.children.map(printCell).join("")}</tr>`);
    return rows.length > 0 ? `<t${section}${node.attrs[section]}>${rows.join("")}</t${section}>` : "";
  });
  return `<figure${html}><table${table}>${sections.join("")}</table>${printCaption(caption)}</figure>`;
}

function printCell(cell) {
  const tag = cell.type.name === "table_header" ? "th" : "td";
  const { html, colspan, rowspan } = cell.attrs;
  const spans = (colspan > 1 ? ` colspan="${colspan}"` : "") + (rowspan > 1 ? ` rowspan="${rowspan}"` : "");
  return `<${tag}${html}${spans}>${writeInline(cell)}</${tag}>`;
}

function printCaption(caption) {
  return caption.childCount > 0 ? `<figcaption${caption.attrs.html}>${writeInline(caption)}</figcaption>` : "";
}

function printSummary(summary) {
  return `<summary${summary.attrs.html}>${writeInline(summary)}</summary>`;
}

function printList(node, plain) {
  const name = node.attrs.ordered ? "ol" : "ul";
  const items = node.children.map((item) => {
    const [text, ...lists] = item.children;
    const inner = lists.map((list) => (plain ? printList(list, true) : comment("list", list.attrs.json, `\n${printList(list, false)}\n`)));
    const markup = `<li${item.attrs.html}>${writeInline(text)}${inner.join(plain ? "" : "\n\n")}</li>`;
    return plain ? markup : comment("list-item", item.attrs.json, `\n${markup}\n`);
  });
  return `<${name}${node.attrs.html}>${items.join(plain ? "" : "\n\n")}</${name}>`;
}

function printQuote(node) {
  const blocks = node.children.filter((child) => child.type.name !== "citation");
  const cite = node.lastChild.type.name === "citation" ? node.lastChild : null;
  // Other blocks than paragraphs need comments, which then all of them have.
  const plain = node.attrs.plain && blocks.every((child) => child.type.name === "paragraph");
  const inside = plain
    ? blocks.map((child) => `<p${child.attrs.html}>${writeInline(child)}</p>`).join("")
    : ANEW.blocks(blocks);
  const source = cite && cite.childCount > 0 ? `<cite${cite.attrs.html}>${writeInline(cite)}</cite>` : "";
  return `<blockquote${node.attrs.html}>${inside}${source}</blockquote>`;
}
