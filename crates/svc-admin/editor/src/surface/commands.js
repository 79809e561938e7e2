// Commands on blocks.

import { NodeSelection, Selection, TextSelection } from "prosemirror-state";
import { setBlockType, wrapIn } from "prosemirror-commands";
import { wrapInList } from "prosemirror-schema-list";
import { heading, orderedList, schema } from "../model/schema.js";

const { nodes } = schema;

/** Index and position of the top-level block of the selection. */
export function blockAt(state) {
  const { $from } = state.selection;
  const index = Math.min($from.index(0), state.doc.childCount - 1);
  return { index, pos: $from.depth > 0 ? $from.before(1) : $from.pos, node: state.doc.child(index) };
}

/** The position before a top-level block. */
export function positionOf(doc, index) {
  let pos = 0;
  for (let n = 0; n < index; n += 1) pos += doc.child(n).nodeSize;
  return pos;
}

/**
 * Moves the top-level blocks of the selection up (-1) or down (1).
 *
 * @param {-1 | 1} by
 */
export function moveBlock(by) {
  return (state, dispatch) => {
    const { $from, $to } = state.selection;
    const first = $from.index(0);
    const last = state.selection instanceof NodeSelection && $from.depth === 0 ? first : $to.index(0);
    const target = by < 0 ? first - 1 : last + 1;
    if (target < 0 || target >= state.doc.childCount) return false;
    if (dispatch) {
      // The neighbour moves to the other side, so that the selection stays where it is.
      const neighbour = state.doc.child(target);
      const tr = state.tr;
      const from = positionOf(state.doc, target);
      tr.delete(from, from + neighbour.nodeSize);
      tr.insert(positionOf(tr.doc, by < 0 ? last : first), neighbour);
      dispatch(tr.scrollIntoView());
    }
    return true;
  };
}

/** Deletes a top-level block. */
export function deleteBlock(index) {
  return (state, dispatch) => {
    if (index >= state.doc.childCount) return false;
    if (dispatch) {
      const pos = positionOf(state.doc, index);
      const end = pos + state.doc.child(index).nodeSize;
      const tr = state.doc.childCount === 1 ? state.tr.replaceWith(pos, end, nodes.paragraph.create()) : state.tr.delete(pos, end);
      tr.setSelection(Selection.near(tr.doc.resolve(Math.min(pos, tr.doc.content.size)), pos > 0 ? -1 : 1));
      dispatch(tr.scrollIntoView());
    }
    return true;
  };
}

/** Inserts a copy of a top-level block after it. */
export function duplicateBlock(index) {
  return (state, dispatch) => {
    const node = state.doc.child(index);
    if (dispatch) dispatch(state.tr.insert(positionOf(state.doc, index + 1), node).scrollIntoView());
    return true;
  };
}

/** Makes the block a paragraph or heading; the attributes of the former type do not apply to it. */
export function setText(level) {
  const [type, attrs] = level ? [nodes.heading, heading(level)] : [nodes.paragraph, null];
  return setBlockType(type, attrs);
}

export const setCode = setBlockType(nodes.code_block);

export function wrapList(ordered) {
  return wrapInList(nodes.list, ordered ? orderedList() : null);
}

export const wrapQuote = wrapIn(nodes.quote);

/** The next position after the one given at which a paragraph fits, or null. */
export function placeAfter($pos) {
  for (let depth = $pos.depth; depth > 0; depth -= 1) {
    const index = $pos.indexAfter(depth - 1);
    if ($pos.node(depth - 1).canReplaceWith(index, index, nodes.paragraph)) return $pos.after(depth);
  }
  return null;
}

/** Inserts a block in place of an empty paragraph, or after the block of the selection. */
export function insertBlock(node) {
  return (state, dispatch) => {
    const { $from } = state.selection;
    const parent = $from.parent;
    const empty = parent.type === nodes.paragraph && parent.childCount === 0 && $from.depth > 0;
    const container = empty ? $from.node(-1) : null;
    const here = empty && container.canReplaceWith($from.index(-1), $from.indexAfter(-1), node.type);
    const from = here ? $from.before() : $from.depth > 0 ? $from.after(1) : state.selection.to;
    const to = here ? $from.after() : from;
    if (dispatch) {
      const tr = state.tr.replaceWith(from, to, node);
      const after = from + node.nodeSize;
      if (node.isTextblock && node.type !== nodes.image) {
        tr.setSelection(TextSelection.create(tr.doc, from + 1));
      } else if (node.type === nodes.table) {
        if (after >= tr.doc.content.size) tr.insert(after, nodes.paragraph.create());
        tr.setSelection(Selection.near(tr.doc.resolve(from + 1), 1));
      } else if (node.type === nodes.image) {
        tr.setSelection(NodeSelection.create(tr.doc, from));
      } else {
        // One can go on writing after a block that has no text.
        if (after >= tr.doc.content.size) tr.insert(after, nodes.paragraph.create());
        tr.setSelection(Selection.near(tr.doc.resolve(after), 1));
      }
      dispatch(tr.scrollIntoView());
    }
    return true;
  };
}

/** Adds a paragraph at the end of the document, unless the last block is an empty one, and goes there. */
export function goToEnd(state, dispatch) {
  const tr = state.tr;
  const last = tr.doc.lastChild;
  if (last.type !== nodes.paragraph || last.childCount > 0) tr.insert(tr.doc.content.size, nodes.paragraph.create());
  dispatch(tr.setSelection(Selection.atEnd(tr.doc)).scrollIntoView());
  return true;
}

/** Adds a source to the quote around the selection, or goes to the one it has. */
export function cite(state, dispatch) {
  const { $from } = state.selection;
  for (let depth = $from.depth; depth > 0; depth -= 1) {
    const node = $from.node(depth);
    if (node.type !== nodes.quote) continue;
    if (dispatch) {
      const end = $from.end(depth);
      const tr = state.tr;
      if (node.lastChild.type !== nodes.citation) tr.insert(end, nodes.citation.create());
      dispatch(tr.setSelection(Selection.near(tr.doc.resolve($from.start(depth) + tr.doc.nodeAt($from.before(depth)).content.size), -1)).scrollIntoView());
    }
    return true;
  }
  return false;
}

