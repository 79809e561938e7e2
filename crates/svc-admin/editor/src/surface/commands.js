// Commands on blocks.

import { NodeSelection, Selection, TextSelection } from "prosemirror-state";
import { setBlockType, wrapIn } from "prosemirror-commands";
import { wrapInList } from "prosemirror-schema-list";
import { heading, orderedList, schema } from "../model/schema.js";

const { nodes } = schema;

/** Nodes whose blocks are moved, copied and deleted one by one. */
const HOLDERS = new Set([nodes.doc, nodes.container, nodes.frame, nodes.gallery, nodes.details]);

export function isBlock(node) {
  return Boolean(node?.type.spec.group?.split(" ").includes("block"));
}

/**
 * The innermost block around a position, or after it.
 *
 * @param {import("prosemirror-model").ResolvedPos} $pos
 * @returns {{depth: number, index: number, pos: number, node: import("prosemirror-model").Node}} `depth` is the depth of the node that has the block
 */
export function blockAround($pos) {
  for (let depth = $pos.depth; depth >= 0; depth -= 1) {
    const holder = $pos.node(depth);
    const index = $pos.index(depth);
    const node = holder.maybeChild(index);
    if (HOLDERS.has(holder.type) && isBlock(node)) return { depth, index, pos: $pos.depth > depth ? $pos.before(depth + 1) : $pos.pos, node };
  }
  // At the end of the document.
  const { doc } = $pos;
  const node = doc.lastChild;
  return { depth: 0, index: doc.childCount - 1, pos: doc.content.size - node.nodeSize, node };
}

/** The block of the selection. */
export function blockAt(state) {
  return blockAround(state.selection.$from);
}

/**
 * Moves the blocks of the selection up (-1) or down (1): within the block that contains them, then to the next column, or
 * out of it.
 *
 * @param {-1 | 1} by
 */
export function moveBlock(by) {
  return (state, dispatch) => {
    const { $from, $to } = state.selection;
    let depth = $from.sharedDepth($to.pos);
    while (depth > 0 && !(HOLDERS.has($from.node(depth).type) && isBlock($from.node(depth).maybeChild($from.index(depth))))) depth -= 1;
    const holder = $from.node(depth);
    const first = $from.index(depth);
    const last = state.selection instanceof NodeSelection && $from.depth === depth ? first : Math.min($to.index(depth), holder.childCount - 1);
    const target = by < 0 ? first - 1 : last + 1;
    const neighbour = holder.maybeChild(target);
    if (!isBlock(neighbour)) return depth > 0 && moveOut(by, depth, first, last)(state, dispatch);
    if (dispatch) {
      // The neighbour moves to the other side, so that the selection stays where it is.
      const tr = state.tr;
      const from = $from.posAtIndex(target, depth);
      const to = $from.posAtIndex(by < 0 ? last + 1 : first, depth);
      tr.delete(from, from + neighbour.nodeSize);
      tr.insert(tr.mapping.map(to), neighbour);
      dispatch(tr.scrollIntoView());
    }
    return true;
  };
}

/** Moves blocks out of the node at a depth: to its neighbour if that may have them, and else before or after it. */
function moveOut(by, depth, first, last) {
  return (state, dispatch) => {
    const { selection } = state;
    const { $from } = selection;
    const holder = $from.node(depth);
    const outer = $from.node(depth - 1);
    const index = $from.index(depth - 1);
    const moved = holder.content.cut(offsetOf(holder, first), offsetOf(holder, last + 1));
    const [start, end] = [$from.posAtIndex(first, depth), $from.posAtIndex(last + 1, depth)];
    const beside = outer.maybeChild(index + by);
    let at = by < 0 ? $from.before(depth) : $from.after(depth);
    let fits = outer.canReplace(by < 0 ? index : index + 1, by < 0 ? index : index + 1, moved);
    if (!fits && beside?.type === nodes.container) {
      const edge = by < 0 ? beside.childCount : 0;
      at += by < 0 ? -1 : 1;
      fits = beside.canReplace(edge, edge, moved);
    } else if (!fits && depth > 1) {
      const up = by < 0 ? $from.index(depth - 2) : $from.index(depth - 2) + 1;
      at = by < 0 ? $from.before(depth - 1) : $from.after(depth - 1);
      fits = $from.node(depth - 2).canReplace(up, up, moved);
    }
    if (!fits) return false;
    if (dispatch) {
      const tr = state.tr;
      const offset = selection.from - start;
      const remaining = holder.canReplace(first, last + 1);
      if (!remaining && holder.type !== nodes.container && holder.type !== nodes.details) return false;
      if (remaining) tr.delete(start, end);
      else tr.replaceWith(start, end, nodes.paragraph.create());
      const to = tr.mapping.map(at, by);
      tr.insert(to, moved);
      tr.setSelection(selection instanceof NodeSelection ? NodeSelection.create(tr.doc, to + offset) : TextSelection.near(tr.doc.resolve(to + offset)));
      dispatch(tr.scrollIntoView());
    }
    return true;
  };
}

function offsetOf(node, index) {
  let out = 0;
  for (let n = 0; n < index; n += 1) out += node.child(n).nodeSize;
  return out;
}

/** Deletes the block at a position, and what contains nothing but it, unless that may be empty. */
export function deleteBlock(pos) {
  return (state, dispatch) => {
    const $pos = state.doc.resolve(pos);
    if (!$pos.nodeAfter) return false;
    let [from, to, depth] = [pos, pos + $pos.nodeAfter.nodeSize, $pos.depth];
    let [first, last] = [$pos.index(), $pos.index() + 1];
    while (depth > 0 && !$pos.node(depth).canReplace(first, last) && !$pos.node(depth).canReplaceWith(first, last, nodes.paragraph)) {
      [from, to] = [$pos.before(depth), $pos.after(depth)];
      depth -= 1;
      [first, last] = [$pos.index(depth), $pos.index(depth) + 1];
    }
    if (dispatch) {
      const isOnly = !$pos.node(depth).canReplace(first, last);
      const tr = isOnly ? state.tr.replaceWith(from, to, nodes.paragraph.create()) : state.tr.delete(from, to);
      tr.setSelection(Selection.near(tr.doc.resolve(Math.min(from, tr.doc.content.size)), from > 0 && !isOnly ? -1 : 1));
      dispatch(tr.scrollIntoView());
    }
    return true;
  };
}

/** Deletes the block that is selected as one. */
export const deleteSelected = (state, dispatch) => {
  const { selection } = state;
  return selection instanceof NodeSelection && isBlock(selection.node) && selection.$from.depth > 0 ? deleteBlock(selection.from)(state, dispatch) : false;
};

/** Inserts a copy of the block at a position after it. */
export function duplicateBlock(pos) {
  return (state, dispatch) => {
    const node = state.doc.nodeAt(pos);
    if (dispatch) dispatch(state.tr.insert(pos + node.nodeSize, node).scrollIntoView());
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

/** The next position after the block around the one given, at which a node fits, or null. */
export function placeAfter($pos, type = nodes.paragraph) {
  for (let depth = $pos.depth; depth > 0; depth -= 1) {
    const index = $pos.indexAfter(depth - 1);
    if ($pos.node(depth - 1).canReplaceWith(index, index, type)) return $pos.after(depth);
  }
  return null;
}

/** Inserts a block in place of an empty paragraph, or after the block of the selection. */
export function insertBlock(node) {
  return (state, dispatch) => {
    const { $from, $to } = state.selection;
    const parent = $from.parent;
    const empty = parent.type === nodes.paragraph && parent.childCount === 0 && $from.depth > 0;
    const container = empty ? $from.node(-1) : null;
    const here = empty && container.canReplaceWith($from.index(-1), $from.indexAfter(-1), node.type);
    const block = blockAt(state);
    const behind = state.selection.node ? $to : state.doc.resolve(block.pos + (block.depth < $from.depth ? block.node.nodeSize : 0));
    const fits = behind.parent.canReplaceWith(behind.index(), behind.index(), node.type);
    const from = here ? $from.before() : fits ? behind.pos : placeAfter(behind, node.type);
    if (from === null) return false;
    const to = here ? $from.after() : from;
    if (dispatch) {
      const tr = state.tr.replaceWith(from, to, node);
      const after = from + node.nodeSize;
      // One can go on writing after a block that is the last one.
      const $after = tr.doc.resolve(after);
      if ((!node.isTextblock || node.type === nodes.embed) && !$after.nodeAfter && $after.parent.canReplaceWith($after.index(), $after.index(), nodes.paragraph)) tr.insert(after, nodes.paragraph.create());
      if (node.type === nodes.image || node.type === nodes.embed) tr.setSelection(NodeSelection.create(tr.doc, from));
      else if (node.isTextblock) tr.setSelection(TextSelection.create(tr.doc, from + 1));
      else tr.setSelection(Selection.near(tr.doc.resolve(node.isLeaf ? after : from + 1), 1));
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

