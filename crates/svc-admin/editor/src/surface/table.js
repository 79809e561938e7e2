// Commands on tables.

import { NodeSelection, Plugin, TextSelection } from "prosemirror-state";
import { Fragment, Slice } from "prosemirror-model";
import {
  TableMap, addColumn, addRow, deleteColumn, deleteRow, goToNextCell, handlePaste, isInTable, mergeCells, selectedRect, splitCell,
} from "prosemirror-tables";
import { attribute } from "../blocks/html.js";
import { aligned, schema } from "../model/schema.js";

const { nodes } = schema;

/** Depth of the table around the selection; 0 for none. */
export function tableDepth(state) {
  const { $from } = state.selection;
  for (let depth = $from.depth; depth > 0; depth -= 1) if ($from.node(depth).type === nodes.table) return depth;
  return 0;
}

/** An empty table. */
export function newTable(width, height) {
  const row = () => nodes.table_row.create(null, Array.from({ length: width }, () => nodes.table_cell.create()));
  return nodes.table.create(null, [nodes.table_grid.create(null, Array.from({ length: height }, row)), nodes.caption.create()]);
}

/**
 * Adds a row above (-1) or below (1) the selected ones, in the same section of the table, with cells like theirs.
 *
 * @param {-1 | 1} side
 */
export function insertRow(side) {
  return (state, dispatch) => {
    if (!isInTable(state)) return false;
    if (dispatch) {
      const rect = selectedRect(state);
      const at = side < 0 ? rect.top : rect.bottom;
      const model = side < 0 ? at + 1 : at - 1;
      const tr = addRow(state.tr, rect, at);
      const grid = tr.doc.nodeAt(rect.tableStart - 1);
      setRows(tr, rect.tableStart, [[at, grid.child(model).attrs.section]], (column) => cellAt(grid, model, column));
      dispatch(tr);
    }
    return true;
  };
}

/** The cell of a table in a row and a column. */
function cellAt(grid, row, column) {
  const map = TableMap.get(grid);
  return grid.nodeAt(map.map[row * map.width + column]);
}

/** Puts rows in a section, with the cells that belong there. Cells take over the alignment of a model. */
function setRows(tr, start, rows, model = () => null) {
  const grid = tr.doc.nodeAt(start - 1);
  const map = TableMap.get(grid);
  for (const [index, section] of rows) {
    let pos = start;
    for (let n = 0; n < index; n += 1) pos += grid.child(n).nodeSize;
    const row = grid.child(index);
    tr.setNodeMarkup(pos, null, { ...row.attrs, section });
    row.forEach((cell, offset) => {
      const like = model(map.colCount(pos + 1 + offset - start));
      const type = section === "head" ? nodes.table_header : like && section === "body" ? like.type : nodes.table_cell;
      const html = like ? aligned(cell.attrs.html, attribute(like.attrs.html, "data-align")) : cell.attrs.html;
      tr.setNodeMarkup(pos + 1 + offset, type, { ...cell.attrs, html });
    });
  }
}

/** @param {-1 | 1} side */
export function insertColumn(side) {
  return (state, dispatch) => {
    if (!isInTable(state)) return false;
    if (dispatch) {
      const rect = selectedRect(state);
      const tr = addColumn(state.tr, rect, side < 0 ? rect.left : rect.right);
      const grid = tr.doc.nodeAt(rect.tableStart - 1);
      const map = TableMap.get(grid);
      const column = side < 0 ? rect.left : rect.right;
      for (let row = 0; row < map.height; row += 1) {
        const pos = map.map[row * map.width + column];
        const { section } = grid.child(row).attrs;
        const cell = grid.nodeAt(pos);
        if (map.findCell(pos).top === row && cell.attrs.colspan === 1) tr.setNodeMarkup(rect.tableStart + pos, section === "head" ? nodes.table_header : nodes.table_cell, cell.attrs);
      }
      dispatch(tr);
    }
    return true;
  };
}

/** Deletes the selected rows; the whole table if all of them are selected. */
export const removeRows = (state, dispatch) => {
  if (!isInTable(state)) return false;
  const rect = selectedRect(state);
  return rect.top === 0 && rect.bottom === rect.map.height ? removeTable(state, dispatch) : deleteRow(state, dispatch);
};

/** Deletes the selected columns; the whole table if all of them are selected. */
export const removeColumns = (state, dispatch) => {
  if (!isInTable(state)) return false;
  const rect = selectedRect(state);
  return rect.left === 0 && rect.right === rect.map.width ? removeTable(state, dispatch) : deleteColumn(state, dispatch);
};

export const removeTable = (state, dispatch) => {
  const depth = tableDepth(state);
  if (depth === 0) return false;
  if (dispatch) {
    const { $from } = state.selection;
    const tr = state.tr.replaceWith($from.before(depth), $from.after(depth), nodes.paragraph.create());
    dispatch(tr.setSelection(TextSelection.create(tr.doc, $from.before(depth) + 1)).scrollIntoView());
  }
  return true;
};

/** The rows at one end of a table up to the first ones that no cell extends beyond. */
function edgeRows(grid, fromEnd) {
  const map = TableMap.get(grid);
  const crosses = (row) => {
    for (let column = 0; column < map.width; column += 1) if (map.map[row * map.width + column] === map.map[(row - 1) * map.width + column]) return true;
    return false;
  };
  let count = 1;
  while (count < map.height && crosses(fromEnd ? map.height - count : count)) count += 1;
  return Array.from({ length: count }, (_, n) => (fromEnd ? map.height - 1 - n : n));
}

/**
 * Makes the first row the head of the table or the last one its foot, or makes them rows like others.
 *
 * @param {"head" | "foot"} section
 */
export function toggleSection(section) {
  return (state, dispatch) => {
    if (!isInTable(state)) return false;
    const { table: grid, tableStart } = selectedRect(state);
    const present = grid.children.flatMap((row, n) => (row.attrs.section === section ? [[n, "body"]] : []));
    const rows = present.length > 0 ? present : edgeRows(grid, section === "foot").map((n) => [n, section]);
    // The rows of the other section stay there.
    if (present.length === 0 && rows.some(([n]) => grid.child(n).attrs.section !== "body")) return false;
    if (dispatch) {
      const { tr } = state;
      setRows(tr, tableStart, rows);
      dispatch(tr);
    }
    return true;
  };
}

/** Aligns the columns of the selection, or removes the alignment if they have it already. */
export function alignColumns(align) {
  return (state, dispatch) => {
    if (!isInTable(state)) return false;
    if (dispatch) {
      const { tr } = state;
      const { table: grid, tableStart, map, left, right } = selectedRect(state);
      const cells = map.cellsInRect({ left, right, top: 0, bottom: map.height });
      const all = cells.every((pos) => attribute(grid.nodeAt(pos).attrs.html, "data-align") === align);
      for (const pos of cells) {
        const cell = grid.nodeAt(pos);
        tr.setNodeMarkup(tableStart + pos, null, { ...cell.attrs, html: aligned(cell.attrs.html, all ? null : align) });
      }
      dispatch(tr);
    }
    return true;
  };
}

/** Merges the selected cells, with their texts on lines of their own, or splits the cell of the selection. */
export const mergeOrSplit = (state, dispatch) => {
  if (!isInTable(state)) return false;
  if (!mergeCells(state)) return splitCell(state, dispatch);
  if (!dispatch) return true;
  const rect = selectedRect(state);
  const sections = new Set(rect.table.children.slice(rect.top, rect.bottom).map((row) => row.attrs.section));
  if (sections.size > 1) return false;
  const { tr } = state;
  const filled = rect.map.cellsInRect(rect).filter((pos) => rect.table.nodeAt(pos).childCount > 0);
  for (const pos of filled.slice(1)) tr.insert(tr.mapping.map(rect.tableStart + pos + 1), nodes.hard_break.create());
  mergeCells(state.apply(tr), (merge) => {
    for (const step of merge.steps) tr.step(step);
    tr.setSelection(TextSelection.near(tr.doc.resolve(merge.selection.$anchorCell?.pos + 1 || merge.selection.from)));
  });
  dispatch(tr.scrollIntoView());
  return true;
};

/** Goes to the next cell; a row is added after the last one. */
export const nextCell = (state, dispatch) => {
  if (!isInTable(state)) return false;
  if (goToNextCell(1)(state, dispatch)) return true;
  if (!dispatch) return true;
  // From the last cell, so that the row follows all others.
  insertRow(1)(state, (tr) => goToNextCell(1)(state.apply(tr), (move) => {
    tr.setSelection(TextSelection.create(tr.doc, move.selection.anchor, move.selection.head));
    dispatch(tr.scrollIntoView());
  }));
  return true;
};

export const previousCell = (state, dispatch) => isInTable(state) && (goToNextCell(-1)(state, dispatch) || true);

/** Whether the cursor is at the edge of a cell, beyond which nothing is deleted. */
export const stayInCell = (atEnd) => (state) => {
  const { $from, empty } = state.selection;
  if (!empty || !$from.parent.type.spec.tableRole) return false;
  return atEnd ? $from.parentOffset === $from.parent.content.size : $from.parentOffset === 0;
};

/** A line break in a cell. */
export const breakInCell = (state, dispatch) => {
  if (!state.selection.$from.parent.type.spec.tableRole || !(state.selection instanceof TextSelection)) return false;
  dispatch?.(state.tr.replaceSelectionWith(nodes.hard_break.create()).scrollIntoView());
  return true;
};

/** Selects the table around the selection. */
export const selectTable = (state, dispatch) => {
  const depth = tableDepth(state);
  if (depth === 0) return false;
  dispatch?.(state.tr.setSelection(NodeSelection.create(state.doc, state.selection.$from.before(depth))));
  return true;
};

/**
 * Pastes into a table: the cells of a table over the cells there; other blocks are no content of cells. Returns false
 * where the selection is in no table.
 */
export function pasteInTable(view, event, slice) {
  if (!isInTable(view.state)) return false;
  const [first] = slice.content.content;
  const isTable = slice.content.childCount === 1 && first.type === nodes.table;
  const cells = isTable ? new Slice(Fragment.from(first.firstChild), 0, 0) : slice;
  return handlePaste(view, event, cells);
}

/** Removes tables whose cells were all deleted, and keeps rows in the order of the sections, which pasting cells may change. */
export function tidyTables() {
  return new Plugin({
    appendTransaction(transactions, before, state) {
      if (!transactions.some((tr) => tr.docChanged)) return null;
      return withoutEmpty(state) ?? inOrder(state);
    },
  });
}

function withoutEmpty(state) {
  const empty = [];
  state.doc.descendants((node, pos) => {
    if (node.type === nodes.table && node.firstChild.children.every((row) => row.childCount === 0)) empty.push(pos);
    return !node.isTextblock && node.type !== nodes.table;
  });
  if (empty.length === 0) return null;
  const { tr } = state;
  for (const pos of empty.reverse()) {
    const $pos = tr.doc.resolve(pos);
    const end = pos + $pos.nodeAfter.nodeSize;
    if ($pos.parent.canReplace($pos.index(), $pos.index() + 1)) tr.delete(pos, end);
    else tr.replaceWith(pos, end, nodes.paragraph.create());
  }
  return tr;
}

const ORDER = { head: 0, body: 1, foot: 2 };

function inOrder(state) {
  if (!isInTable(state)) return null;
  const { table: grid, tableStart } = selectedRect(state);
  let section = "head";
  const rows = [];
  for (const [n, row] of grid.children.entries()) {
    if (ORDER[row.attrs.section] < ORDER[section]) rows.push([n, section]);
    else section = row.attrs.section;
  }
  if (rows.length === 0) return null;
  const { tr } = state;
  setRows(tr, tableStart, rows);
  return tr;
}
