// Commands keep the document valid, whatever is selected, and what is printed afterwards is read again as it is.

import { test } from "node:test";
import assert from "node:assert/strict";
import { EditorState, NodeSelection, Selection, TextSelection } from "prosemirror-state";
import { CellSelection, cellAround, tableEditing } from "prosemirror-tables";
import { split } from "../src/blocks/pieces.js";
import { Origins } from "../src/model/document.js";
import { schema } from "../src/model/schema.js";
import * as blocks from "../src/surface/commands.js";
import { backspaceInLayout, buttons, leaveLayout, leaveSummary, newButton, newColumns, newDetails, nextButton } from "../src/surface/layout.js";
import * as tables from "../src/surface/table.js";
import { Random, randomContent, randomDoc } from "./generate.js";

const { nodes } = schema;

const COMMANDS = {
  moveUp: blocks.moveBlock(-1),
  moveDown: blocks.moveBlock(1),
  deleteSelected: blocks.deleteSelected,
  delete: (state, dispatch) => blocks.deleteBlock(blocks.blockAt(state).pos)(state, dispatch),
  duplicate: (state, dispatch) => blocks.duplicateBlock(blocks.blockAt(state).pos)(state, dispatch),
  insertParagraph: blocks.insertBlock(nodes.paragraph.create()),
  insertTable: blocks.insertBlock(tables.newTable(2, 2)),
  insertColumns: blocks.insertBlock(newColumns(2)),
  insertButtons: blocks.insertBlock(buttons([newButton()])),
  insertDetails: blocks.insertBlock(newDetails()),
  insertSeparator: blocks.insertBlock(nodes.separator.create()),
  goToEnd: (state, dispatch) => (dispatch ? blocks.goToEnd(state, dispatch) : true),
  leaveLayout, leaveSummary, nextButton, backspaceInLayout,
  rowAbove: tables.insertRow(-1),
  rowBelow: tables.insertRow(1),
  columnBefore: tables.insertColumn(-1),
  columnAfter: tables.insertColumn(1),
  removeRows: tables.removeRows,
  removeColumns: tables.removeColumns,
  head: tables.toggleSection("head"),
  foot: tables.toggleSection("foot"),
  align: tables.alignColumns("center"),
  mergeOrSplit: tables.mergeOrSplit,
  nextCell: tables.nextCell,
  previousCell: tables.previousCell,
  breakInCell: tables.breakInCell,
};

/** A selection anywhere: of text, of a block, or of a row of cells. */
function randomSelection(doc, random) {
  const $pos = doc.resolve(random.below(doc.content.size + 1));
  const $cell = cellAround($pos);
  if ($cell && random.chance(0.4)) return CellSelection.rowSelection($cell);
  if (random.chance(0.3)) {
    const { pos } = blocks.blockAround($pos);
    return NodeSelection.create(doc, pos);
  }
  const from = Selection.near($pos);
  return random.chance(0.3) ? TextSelection.between(from.$from, Selection.near(doc.resolve(random.below(doc.content.size + 1))).$to) : from;
}

function opaque(doc) {
  let count = 0;
  doc.descendants((node) => void (count += node.type === nodes.opaque ? 1 : 0));
  return count;
}

function isDamaged(doc) {
  let found = false;
  doc.descendants(({ type, attrs: { name, source } }) => void (found ||= type === nodes.opaque && (split(source).some(({ whole }) => !whole) || (name === null && source.includes("<!--")))));
  return found;
}

const words = (doc) => doc.textBetween(0, doc.content.size, " ", " ").replace(/\s+/g, " ").trim();

const shape = (doc) => JSON.stringify(doc.toJSON(), (key, value) => (key === "origin" ? undefined : value));

test("commands on any selection keep the document valid", () => {
  const random = new Random(11);
  const ran = new Map();
  for (let n = 0; n < 250; n += 1) {
    const origins = new Origins();
    const doc = random.chance(0.5) ? randomDoc(random) : origins.open(randomContent(random));
    let state = EditorState.create({ doc, plugins: [tableEditing({ allowTableNodeSelection: true }), tables.tidyTables()] });
    for (let step = 0; step < 25; step += 1) {
      state = state.apply(state.tr.setSelection(randomSelection(state.doc, random)));
      const name = random.pick(Object.keys(COMMANDS));
      const before = state;
      const can = COMMANDS[name](state);
      COMMANDS[name](state, (tr) => (state = state.apply(tr)));
      if (state !== before) {
        ran.set(name, (ran.get(name) ?? 0) + 1);
        assert.ok(can, `${name} changes what it says it does not`);
      }
      try {
        state.doc.check();
        origins.print(state.doc);
      } catch (error) {
        throw new Error(`${name} on ${before.selection.toJSON().type} of ${before.doc}: ${error.message}`);
      }
    }
    // What is printed is edited again, as what it was; damaged blocks may take in what follows them now.
    if (isDamaged(state.doc)) continue;
    const printed = origins.print(state.doc);
    const read = new Origins().open(printed);
    assert.ok(opaque(read) <= opaque(state.doc), `${state.doc}\n${read}\n${printed}`);
    assert.equal(words(read), words(state.doc));
  }
  for (const name of Object.keys(COMMANDS)) assert.ok(ran.get(name) > 0, `${name} never ran`);
});

test("moving a block down and up again restores the document", () => {
  const random = new Random(12);
  let moved = 0;
  for (let n = 0; n < 500; n += 1) {
    const start = EditorState.create({ doc: randomDoc(random) });
    let state = start.apply(start.tr.setSelection(randomSelection(start.doc, random)));
    const before = shape(state.doc);
    const { depth, index } = blocks.blockAt(state);
    const holder = state.selection.$from.node(depth);
    if (!state.selection.empty && !(state.selection instanceof NodeSelection)) continue;
    if (!blocks.isBlock(holder.maybeChild(index + 1))) continue;
    assert.ok(blocks.moveBlock(1)(state, (tr) => (state = state.apply(tr))));
    blocks.moveBlock(-1)(state, (tr) => (state = state.apply(tr)));
    assert.equal(shape(state.doc), before);
    moved += 1;
  }
  assert.ok(moved > 50, `${moved} moved`);
});
