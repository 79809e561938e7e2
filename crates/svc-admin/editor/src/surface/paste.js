// What is pasted, dropped and copied: HTML of word processors, Markdown, markup of blocks, images, the editor's own blocks.

import MarkdownIt from "markdown-it";
import { DOMParser as ModelParser, DOMSerializer, Fragment, Slice } from "prosemirror-model";
import { EditorState, NodeSelection, Selection } from "prosemirror-state";
import { fixTables } from "prosemirror-tables";
import { insertPoint } from "prosemirror-transform";
import { schema } from "../model/schema.js";
import { clean } from "./clean.js";
import { newEmbed } from "./embed.js";
import { dropBeside } from "./layout.js";
import { pasteInTable } from "./table.js";

const { nodes } = schema;
const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false });

/** Signs of Markdown in plain text. */
const MARKDOWN = [
  /^#{1,6} \S/m, /^\s*[-*+] \S/m, /^\s*\d+[.)] \S/m, /^> ?\S/m, /^(?:```|~~~)/m, /\*\*\S[^*]*\*\*/, /\[[^\]]+\]\([^)\s]+\)/, /`[^`\n]+`/, /^\|.*\|$/m,
];

export function isMarkdown(text) {
  return MARKDOWN.some((sign) => sign.test(text));
}

/** Whether HTML has a structure that its plain text has not. */
function hasStructure(html) {
  return /<(?:h[1-6]|ul|ol|table|strong|b|em|i|a|blockquote|img)[\s>]/i.test(html.replace(/<b [^>]*docs-internal-guid/i, ""));
}

/** HTML with only what the editor's document knows. */
export function cleanHtml(html) {
  return clean(html).innerHTML;
}

/** The nodes of Markdown. */
export function fromMarkdown(text) {
  const body = clean(markdown.render(text.replace(/\r\n?/g, "\n")));
  return rectangular(withoutLastBreaks(ModelParser.fromSchema(schema).parseSlice(body)));
}

/** The table of cells that a spreadsheet copies as plain text: at least two lines, with the same number of tabs each. */
export function fromCells(text) {
  const rows = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n").map((line) => line.split("\t"));
  const [{ length: width }] = rows;
  if (rows.length < 2 || width < 2 || width > 100 || rows.some((row) => row.length !== width)) return null;
  const cell = (value) => nodes.table_cell.create(null, value.trim() === "" ? null : schema.text(value.trim()));
  const grid = nodes.table_grid.create(null, rows.map((row) => nodes.table_row.create(null, row.map(cell))));
  return new Slice(Fragment.from(nodes.table.create(null, [grid, nodes.caption.create()])), 0, 0);
}

/** Tables of which each row has a cell in each column, as others are not edited. */
export function rectangular(slice) {
  const visit = (fragment) => Fragment.fromArray(fragment.content.map((node) => {
    if (node.type !== nodes.table_grid) return node.isLeaf || node.isTextblock ? node : node.copy(visit(node.content));
    return fixedGrid(node);
  }));
  return new Slice(visit(slice.content), slice.openStart, slice.openEnd);
}

function fixedGrid(grid) {
  const doc = nodes.doc.create(null, nodes.table.create(null, [grid, nodes.caption.create()]));
  const state = EditorState.create({ doc });
  return (fixTables(state)?.doc ?? doc).firstChild.firstChild;
}

/** Texts without blocks: cells, captions and sources. What is pasted there becomes text on several lines. */
function isPlainPlace(type) {
  return type.isTextblock && type !== nodes.paragraph && type !== nodes.heading && type !== nodes.preformatted && !type.spec.code;
}

/** The texts of blocks, on lines of their own. */
function asLines(slice, type) {
  const out = [];
  const add = (node) => {
    if (node.isInline) return out.push(node);
    if (!node.isTextblock) return node.forEach(add);
    if (node.childCount === 0) return undefined;
    if (out.length > 0) out.push(nodes.hard_break.create());
    return node.forEach((child) => out.push(child.isText ? child.mark(type.allowedMarks(child.marks)) : child));
  };
  slice.content.forEach(add);
  return new Slice(Fragment.fromArray(out), 0, 0);
}

/** Code without the line break at its end, which Markdown and web pages add. */
export function withoutLastBreaks(slice) {
  const trim = (node) => (node.type === nodes.code_block && node.textContent.endsWith("\n") ? node.cut(0, node.content.size - 1) : node);
  return new Slice(Fragment.fromArray(slice.content.content.map(trim)), slice.openStart, slice.openEnd);
}

// Attributes of blocks are markup, so they are never read from a clipboard, which any page can fill. The clipboard has a
// random name instead, under which this site's storage has the blocks.

const COPIED = "editor-copied";
let copied = null;

function remember(slice) {
  copied = { name: Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join(""), slice: slice.toJSON() };
  try {
    localStorage.setItem(COPIED, JSON.stringify(copied));
  } catch {
    // Other tabs get the HTML.
  }
}

/** The blocks that pasted HTML stands for, or null. */
function recall(html) {
  const name = /data-copied="([a-z0-9]+)"/.exec(html)?.[1];
  if (!name) return null;
  try {
    const found = copied?.name === name ? copied : JSON.parse(localStorage.getItem(COPIED));
    return found?.name === name ? Slice.fromJSON(schema, found.slice) : null;
  } catch {
    return null;
  }
}

class Serializer extends DOMSerializer {
  serializeFragment(fragment, options, target) {
    const out = super.serializeFragment(fragment, options, target);
    // The outermost call has the first element of what is copied.
    const first = target ? null : [...out.childNodes].find((node) => node.nodeType === 1);
    if (copied) first?.setAttribute("data-copied", copied.name);
    return out;
  }
}

/**
 * Properties of the view.
 *
 * @param {object} parts
 * @param {import("../model/document.js").Origins} parts.origins
 * @param {import("./upload.js").Uploads} parts.uploads
 * @param {(why: string) => void} parts.refused shows why a file is not uploaded
 * @param {(view: import("prosemirror-view").EditorView, files: File[], pos: number | null) => void} parts.insertFiles
 */
export function pasteProps({ origins, uploads, refused, insertFiles }) {
  const images = (data) => [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));

  /** The blocks that the editor copied, that markup has, or that plain text is written as. */
  const structured = (html, text) => {
    const known = recall(html);
    if (known) return known;
    if (text.includes("<!-- wp:")) return new Slice(Fragment.from(origins.read(text)), 0, 0);
    if (hasStructure(html)) return null;
    return fromCells(text) ?? (isMarkdown(text) ? fromMarkdown(text) : null);
  };

  const take = (view, files, pos) => {
    const fitting = files.filter((file) => {
      const why = uploads.refuse(file);
      if (why) refused(why);
      return !why;
    });
    if (fitting.length > 0) insertFiles(view, fitting, pos);
    return true;
  };

  return {
    transformPastedHTML: cleanHtml,
    transformPasted: (slice) => rectangular(withoutLastBreaks(slice)),
    transformCopied: (slice) => (remember(slice), slice),
    clipboardSerializer: new Serializer(DOMSerializer.nodesFromSchema(schema), DOMSerializer.marksFromSchema(schema)),
    clipboardTextSerializer: (slice) => slice.content.textBetween(0, slice.content.size, "\n\n", plainText),

    handlePaste(view, event, parsed) {
      const data = event.clipboardData;
      const { parent } = view.state.selection.$from;
      if (!data || parent.type.spec.code) return false;
      const html = data.getData("text/html");
      const text = data.getData("text/plain");
      // Word processors add a picture of what is copied to its text.
      const files = images(data);
      if (files.length > 0 && text.trim() === "") return take(view, files, null);
      if (isUrl(text) && linkSelection(view, text.trim())) return true;
      const shift = view.input?.shiftKey;
      if (isUrl(text) && !shift && embedUrl(view, text.trim())) return true;
      // With Shift, text is pasted as it is.
      const slice = shift ? null : structured(html, text);
      if (pasteInTable(view, event, slice ?? parsed)) return true;
      const { tr } = view.state;
      const lines = isPlainPlace(parent.type) && asLines(slice ?? parsed, parent.type);
      if (lines && lines.size > 0) {
        tr.replaceSelection(lines);
        view.dispatch(tr.scrollIntoView().setMeta("paste", true).setMeta("uiEvent", "paste"));
        return true;
      }
      if (!slice) return false;
      if (slice.openStart === 0 && slice.openEnd === 0) insertBlocks(tr, slice.content);
      else tr.replaceSelection(slice);
      view.dispatch(tr.scrollIntoView().setMeta("paste", true).setMeta("uiEvent", "paste"));
      return true;
    },

    handleDrop(view, event, slice, isMove) {
      if (dropBeside(view, event, slice, isMove)) return true;
      const files = images(event.dataTransfer);
      if (files.length === 0 || view.dragging) return false;
      event.preventDefault();
      return take(view, files, view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ?? null);
    },
  };
}

/** Puts whole blocks at the selection, without joining them with the text there. */
function insertBlocks(tr, blocks) {
  if (blocks.childCount === 0) return;
  if (tr.selection instanceof NodeSelection && tr.selection.node.isBlock) {
    const after = tr.selection.to;
    finish(tr, after, after, blocks);
    return;
  }
  if (!tr.selection.empty) tr.deleteSelection();
  const { $from } = tr.selection;
  const { parent } = $from;
  if (parent.type === nodes.paragraph && parent.childCount === 0 && $from.depth === 1) return finish(tr, $from.before(), $from.after(), blocks);
  const at = insertPoint(tr.doc, $from.pos, blocks.firstChild.type);
  const pos = at ?? $from.after(1);
  return finish(tr, pos, pos, blocks);
}

function finish(tr, from, to, blocks) {
  tr.replaceWith(from, to, blocks);
  tr.setSelection(Selection.near(tr.doc.resolve(from + blocks.size), -1));
}

function plainText(leaf) {
  if (leaf.type === nodes.opaque) return leaf.attrs.source;
  return leaf.type === nodes.hard_break ? "\n" : "";
}

function isUrl(text) {
  return /^\s*https?:\/\/\S+\s*$/.test(text);
}

/** A URL of a provider that is pasted on a line of its own becomes an embed. */
function embedUrl(view, url) {
  const { $from, empty } = view.state.selection;
  const { parent } = $from;
  if (!empty || parent.type !== nodes.paragraph || parent.childCount > 0 || !$from.node(-1).canReplaceWith($from.index(-1), $from.indexAfter(-1), nodes.embed)) return false;
  const embed = newEmbed(url);
  if (!embed) return false;
  const tr = view.state.tr.replaceWith($from.before(), $from.after(), embed);
  const after = $from.before() + embed.nodeSize;
  if (!tr.doc.resolve(after).nodeAfter) tr.insert(after, nodes.paragraph.create());
  view.dispatch(tr.setSelection(Selection.near(tr.doc.resolve(after), 1)).scrollIntoView());
  return true;
}

/** A URL that is pasted over text makes it a link. */
function linkSelection(view, href) {
  const { from, to, empty, $from, $to } = view.state.selection;
  if (empty || !$from.sameParent($to) || !$from.parent.type.allowsMarkType(schema.marks.link)) return false;
  view.dispatch(view.state.tr.addMark(from, to, schema.marks.link.create({ href })));
  return true;
}
