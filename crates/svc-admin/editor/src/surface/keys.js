// Keys of the editor.

import {
  baseKeymap, chainCommands, createParagraphNear, exitCode, joinUp, liftEmptyBlock, selectParentNode, splitBlockAs, toggleMark,
} from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { liftListItem, sinkListItem, splitListItem } from "prosemirror-schema-list";
import { Selection, TextSelection } from "prosemirror-state";
import { set } from "../blocks/json.js";
import { withAttribute } from "../blocks/html.js";
import { schema } from "../model/schema.js";
import { blockAt, deleteSelected, goToEnd, isBlock, moveBlock, placeAfter, setText, wrapList } from "./commands.js";
import { backspaceInLayout, leaveLayout, leaveSummary, nextButton } from "./layout.js";
import { breakInCell, nextCell, previousCell, selectTable, stayInCell } from "./table.js";

const { nodes, marks } = schema;

const inNode = (state, type) => {
  const { $from } = state.selection;
  for (let depth = $from.depth; depth > 0; depth -= 1) if ($from.node(depth).type === type) return depth;
  return 0;
};

/** Line breaks within code, preformatted text and HTML. */
const newline = (state, dispatch) => {
  const { $from, $to } = state.selection;
  const verbatim = $from.parent.type.spec.code || $from.parent.type === nodes.preformatted;
  if (!verbatim || !$from.sameParent($to)) return false;
  dispatch?.(state.tr.insertText("\n").scrollIntoView());
  return true;
};

/** A second Enter at the end of code, preformatted text or HTML continues below it. */
const leaveVerbatim = (state, dispatch) => {
  const { $from, empty } = state.selection;
  const parent = $from.parent;
  const verbatim = parent.type.spec.code || parent.type === nodes.preformatted;
  if (!verbatim || !empty || $from.parentOffset !== parent.content.size || !parent.textContent.endsWith("\n\n")) return false;
  if (dispatch) {
    const tr = state.tr.delete($from.pos - 2, $from.pos);
    const after = tr.mapping.map($from.after());
    tr.insert(after, nodes.paragraph.create());
    dispatch(tr.setSelection(TextSelection.create(tr.doc, after + 1)).scrollIntoView());
  }
  return true;
};

/** Texts in which Enter continues below their block. */
const LEFT = new Set([nodes.image, nodes.embed, nodes.citation, nodes.caption]);

/** Enter in a caption or a source continues below the block. */
const leaveBlock = (state, dispatch) => {
  const { $from, empty } = state.selection;
  if (!empty || !LEFT.has($from.parent.type)) return false;
  const after = placeAfter($from);
  if (after === null) return false;
  if (dispatch) {
    const tr = state.tr.insert(after, nodes.paragraph.create());
    dispatch(tr.setSelection(TextSelection.create(tr.doc, after + 1)).scrollIntoView());
  }
  return true;
};

/** Splits a block. The second half has no anchor, which would be there twice, and is no heading at its end. */
const split = splitBlockAs((node, atEnd) => {
  if (atEnd || node.type === nodes.heading && node.childCount === 0) return { type: nodes.paragraph };
  if (node.type !== nodes.paragraph && node.type !== nodes.heading) return null;
  const attrs = { ...node.attrs, origin: null, json: set(node.attrs.json, "anchor", undefined), html: withAttribute(node.attrs.html, "id", null) };
  return { type: node.type, attrs };
});

/** Indents a list item; the new inner list is numbered as the outer one is. */
const indent = (state, dispatch) =>
  sinkListItem(nodes.list_item)(state, dispatch && ((tr) => {
    const { $from } = tr.selection;
    const [inner, outer] = [$from.depth - 2, $from.depth - 4];
    const list = outer > 0 && $from.node(inner);
    if (list && list.type === nodes.list && list.childCount === 1 && !list.attrs.ordered && $from.node(outer).attrs?.ordered) {
      tr.setNodeMarkup($from.before(inner), null, { ...list.attrs, ordered: true, json: '{"ordered":true}' });
    }
    dispatch(tr);
  }));

/** Backspace at the start of a heading makes it a paragraph, and of a list item lifts it. */
const backspace = (state, dispatch) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.parentOffset > 0) return false;
  const type = $from.parent.type;
  if (type === nodes.heading || (type.spec.code && $from.parent.childCount === 0)) return setText(0)(state, dispatch);
  if ($from.depth > 1 && $from.node(-1).type === nodes.list_item && $from.index(-2) === 0 && $from.index(-1) === 0) {
    return liftListItem(nodes.list_item)(state, dispatch);
  }
  return false;
};

const hardBreak = chainCommands(newline, (state, dispatch) => {
  if (!state.selection.$from.parent.inlineContent) return false;
  dispatch?.(state.tr.replaceSelectionWith(nodes.hard_break.create()).scrollIntoView());
  return true;
});

/** Tab leaves the editor, except in tables and where it indents. */
const tab = chainCommands(nextCell, (state, dispatch) => (inNode(state, nodes.list_item) ? indent(state, dispatch) || true : false));
const shiftTab = chainCommands(previousCell, (state, dispatch) => (inNode(state, nodes.list_item) ? liftListItem(nodes.list_item)(state, dispatch) : false));

/** Pictures of a gallery, buttons and columns are beside each other. */
const moveSideways = (by) => (state, dispatch) => {
  const { $from } = state.selection;
  const depth = blockAt(state).depth;
  return ($from.node(depth).type === nodes.gallery || $from.node(depth).type === nodes.frame) && moveBlock(by)(state, dispatch);
};

/**
 * Goes to the start or end of the text, or selects up to there. Browsers find the end of a block that they have skipped
 * (`is-long`) at its start.
 */
const toEdge = (atEnd, extend) => (state, dispatch) => {
  const edge = atEnd ? Selection.atEnd(state.doc) : Selection.atStart(state.doc);
  const selection = extend ? TextSelection.between(state.selection.$anchor, atEnd ? edge.$to : edge.$from) : edge;
  dispatch?.(state.tr.setSelection(selection).scrollIntoView());
  return true;
};

const MAC = /Mac|iP(?:hone|[oa]d)/.test(globalThis.navigator?.platform ?? "");

/**
 * @param {{link: import("prosemirror-state").Command, toTitle: () => boolean}} actions
 */
export function keys(actions) {
  const bindings = {
    Enter: chainCommands(leaveVerbatim, newline, breakInCell, nextButton, leaveSummary, leaveLayout, splitListItem(nodes.list_item), leaveBlock, goPastNode, createParagraphNear, liftEmptyBlock, split),
    "Shift-Enter": hardBreak,
    "Mod-Enter": chainCommands(exitCode, (state, dispatch) => (dispatch ? goToEnd(state, dispatch) : true)),
    Tab: tab,
    "Shift-Tab": shiftTab,
    Backspace: chainCommands(deleteSelected, stayInCell(false), backspaceInLayout, backspace),
    Delete: chainCommands(deleteSelected, stayInCell(true)),
    "Mod-z": undo,
    "Shift-Mod-z": redo,
    "Mod-y": redo,
    "Mod-b": toggleMark(marks.strong),
    "Mod-i": toggleMark(marks.em),
    "Mod-e": toggleMark(marks.code),
    "Mod-Shift-x": toggleMark(marks.strike),
    "Mod-k": actions.link,
    "Alt-Shift-ArrowUp": moveBlock(-1),
    "Alt-Shift-ArrowDown": moveBlock(1),
    "Alt-Shift-ArrowLeft": moveSideways(-1),
    "Alt-Shift-ArrowRight": moveSideways(1),
    "Mod-Alt-0": setText(0),
    "Mod-Shift-7": wrapList(true),
    "Mod-Shift-8": wrapList(false),
    "Alt-ArrowUp": joinUp,
    Escape: chainCommands(selectTable, selectParentNode),
    ArrowUp: (state) => state.selection.empty && state.selection.$from.index(0) === 0 && state.selection.$from.parentOffset === 0 && actions.toTitle(),
  };
  for (const [key, atEnd] of MAC ? [["Meta-ArrowUp", false], ["Meta-ArrowDown", true]] : [["Ctrl-Home", false], ["Ctrl-End", true]]) {
    bindings[key] = toEdge(atEnd, false);
    bindings[`Shift-${key}`] = toEdge(atEnd, true);
  }
  for (let level = 1; level <= 6; level += 1) bindings[`Mod-Alt-${level}`] = setText(level);
  return [keymap(bindings), keymap(baseKeymap)];
}

/** Enter on a selected block continues below it. */
function goPastNode(state, dispatch) {
  const { node, $to } = state.selection;
  if (!isBlock(node)) return false;
  const at = $to.parent.canReplaceWith($to.index(), $to.index(), nodes.paragraph) ? $to.pos : placeAfter($to);
  if (at === null) return false;
  if (dispatch) {
    const tr = state.tr.insert(at, nodes.paragraph.create());
    dispatch(tr.setSelection(TextSelection.create(tr.doc, at + 1)).scrollIntoView());
  }
  return true;
}
