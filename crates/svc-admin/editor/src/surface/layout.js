// New blocks that contain blocks, and commands within them.

import { NodeSelection, Selection, TextSelection } from "prosemirror-state";
import { withAttribute } from "../blocks/html.js";
import { schema } from "../model/schema.js";
import { blockAround, deleteBlock, placeAfter } from "./commands.js";

const { nodes } = schema;

/** A column with blocks. */
export function column(content) {
  const [open, close] = ['<!-- wp:column -->\n<div class="wp-block-column">', "</div>\n<!-- /wp:column -->"];
  return nodes.container.create({ name: "core/column", open, close }, content);
}

export function newColumns(count) {
  return nodes.frame.create(null, Array.from({ length: count }, () => column([nodes.paragraph.create()])));
}

export function newButton(text = null, attrs = null) {
  return nodes.button.create(attrs, text);
}

export function buttons(content) {
  const [open, close] = ['<!-- wp:buttons -->\n<div class="wp-block-buttons">', "</div>\n<!-- /wp:buttons -->"];
  return nodes.frame.create({ name: "core/buttons", open, close }, content);
}

export function newGroup() {
  return nodes.container.create(null, nodes.paragraph.create());
}

export function newDetails() {
  return nodes.details.create(null, [nodes.summary.create(), nodes.paragraph.create()]);
}

/** Enter in an empty paragraph at the end of a block that contains blocks continues below that, as a second Enter does in code. */
export const leaveLayout = (state, dispatch) => {
  const { $from, empty } = state.selection;
  const holder = $from.depth > 0 ? $from.node(-1) : null;
  if (!empty || $from.parent.type !== nodes.paragraph || $from.parent.childCount > 0) return false;
  if ((holder.type !== nodes.container && holder.type !== nodes.details) || $from.index(-1) !== holder.childCount - 1) return false;
  const isOnly = !holder.canReplace($from.index(-1), $from.indexAfter(-1));
  const after = placeAfter(state.doc.resolve($from.after()));
  if (isOnly || after === null) return false;
  if (dispatch) {
    const tr = state.tr.insert(after, nodes.paragraph.create());
    tr.setSelection(TextSelection.create(tr.doc, after + 1)).delete($from.before(), $from.after());
    dispatch(tr.scrollIntoView());
  }
  return true;
};

/** Enter in a button adds another one after it, and in an empty one that is the last leaves the row. */
export const nextButton = (state, dispatch) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parent.type !== nodes.button) return false;
  const row = $from.node(-1);
  const index = $from.index(-1);
  const leave = row.type !== nodes.frame || ($from.parent.childCount === 0 && index === row.childCount - 1 && index > 0);
  const after = leave ? placeAfter(state.doc.resolve($from.after())) : $from.after();
  if (after === null) return false;
  if (dispatch) {
    const { html, tag, link } = $from.parent.attrs;
    const like = tag === "a" ? { html, link: withAttribute(withAttribute(link, "href", null), "id", null) } : null;
    const tr = state.tr.insert(after, leave ? nodes.paragraph.create() : newButton(null, { ...like, json: $from.parent.attrs.json }));
    tr.setSelection(TextSelection.create(tr.doc, after + 1));
    if (leave && row.type === nodes.frame) tr.delete($from.before(), $from.after());
    dispatch(tr.scrollIntoView());
  }
  return true;
};

/** Enter in a summary goes to the text below it. */
export const leaveSummary = (state, dispatch) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parent.type !== nodes.summary) return false;
  dispatch?.(state.tr.setSelection(Selection.near(state.doc.resolve($from.after()), 1)).scrollIntoView());
  return true;
};

/** Backspace at the start of a block that contains blocks: an empty one is selected, and goes with the next Backspace. */
export const backspaceInLayout = (state, dispatch) => {
  const { $from, empty } = state.selection;
  const { parent } = $from;
  if (!empty || $from.parentOffset > 0) return false;
  if (parent.type === nodes.button) return parent.childCount === 0 && $from.depth > 0 ? deleteBlock($from.before())(state, dispatch) : true;
  if (parent.type === nodes.caption || parent.type === nodes.summary) return true;
  const depth = $from.depth - 1;
  if (depth < 1 || $from.index(depth) > 0 || $from.node(depth).type !== nodes.container || !parent.isTextblock) return false;
  // Headings, and code, become text first.
  if (parent.type !== nodes.paragraph) return false;
  const isEmpty = $from.node(depth).childCount === 1 && parent.childCount === 0;
  if (isEmpty) dispatch?.(state.tr.setSelection(NodeSelection.create(state.doc, $from.before(depth))));
  return true;
};

/** Puts a dragged picture or button before or after the one under the pointer, which is beside others. */
export function dropBeside(view, event, slice, isMove) {
  const [node] = slice.content.content;
  const target = event.target.closest?.(".editor-inside > .editor-image, .editor-inside > .editor-button");
  const { selection } = view.state;
  if (!target || !isMove || slice.content.childCount !== 1 || !(selection instanceof NodeSelection) || selection.node.type !== node.type) return false;
  const $inside = view.state.doc.resolve(view.posAtDOM(target, 0));
  const { depth, pos, node: over } = blockAround($inside);
  const holder = $inside.node(depth);
  if (over.type !== node.type || (holder.type !== nodes.gallery && holder.type !== nodes.frame)) return false;
  const { left, width } = target.getBoundingClientRect();
  const { tr } = view.state;
  const at = event.clientX < left + width / 2 ? pos : pos + over.nodeSize;
  // Where it comes from, something has to remain.
  const { $from } = selection;
  if ($from.node() !== holder && !$from.parent.canReplace($from.index(), $from.index() + 1)) return false;
  tr.delete(selection.from, selection.to);
  const to = tr.mapping.map(at);
  tr.insert(to, selection.node).setSelection(NodeSelection.create(tr.doc, to));
  view.dispatch(tr.setMeta("uiEvent", "drop"));
  view.focus();
  return true;
}
