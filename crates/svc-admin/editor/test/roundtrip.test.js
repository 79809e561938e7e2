// A content that is opened and saved unchanged is unchanged, and a change touches only the block that it is made in.

import { test } from "node:test";
import assert from "node:assert/strict";
import { Transform } from "prosemirror-transform";
import { split } from "../src/blocks/pieces.js";
import { Origins } from "../src/model/document.js";
import { schema } from "../src/model/schema.js";
import { corpus } from "./corpus.js";
import { Random, randomContent } from "./generate.js";

const generated = () => {
  const random = new Random(30);
  return Array.from({ length: 10_000 }, () => randomContent(random));
};

function check(content) {
  assert.equal(split(content).map((piece) => piece.source).join(""), content);
  const origins = new Origins();
  assert.equal(origins.print(origins.open(content)), content);
}

/** Types into each block in turn that has text; the other blocks' bytes must stay. Returns how many there were. */
function checkEdits(content) {
  const origins = new Origins();
  const doc = origins.open(content);
  const sources = doc.children.map((child) => origins.print(doc.type.create(null, child)).trim());
  let edited = 0;
  doc.forEach((node, offset, n) => {
    const inside = firstText(node);
    if (inside === null) return;
    const tr = new Transform(doc).insert(offset + inside, schema.text("typed "));
    const printed = origins.print(tr.doc);
    const before = content.indexOf(sources[n], sources.slice(0, n).reduce((at, source) => content.indexOf(source, at) + source.length, 0));
    assert.ok(printed.startsWith(content.slice(0, before)), "what is before the block");
    assert.ok(printed.endsWith(content.slice(before + sources[n].length)), "what is after the block");
    assert.ok(printed.includes("typed "));
    edited += 1;
  });
  return edited;
}

/** The position in a block at which its first text begins, counted from before the block; null for none. */
function firstText(node) {
  if (node.isTextblock) return 1;
  let found = null;
  node.descendants((child, pos) => {
    if (found === null && child.isTextblock) found = pos + 2;
    return found === null;
  });
  return found;
}

test("recorded contents are unchanged", () => {
  const contents = corpus();
  assert.ok(contents.length > 1500, `${contents.length} contents`);
  contents.forEach(check);
});

test("10,000 generated contents are unchanged", () => generated().forEach(check));

test("an edit changes only its block", () => {
  let edited = 0;
  for (const content of generated().slice(0, 4000)) edited += checkEdits(content);
  for (const content of corpus()) edited += checkEdits(content);
  assert.ok(edited > 3000, `${edited} edits`);
});

test("blocks keep their bytes when others move or are deleted", () => {
  const source = ["<p>free</p>", "<!-- wp:paragraph   -->\n<p>a</p>\n<!-- /wp:paragraph -->", "<!-- wp:x/y /-->"];
  const origins = new Origins();
  const doc = origins.open(`${source.join("\n")}\n`);
  const [a, b, c] = doc.children;
  const print = (...children) => origins.print(doc.type.create(null, children));
  assert.equal(print(a, c), `${source[0]}\n\n${source[2]}\n`);
  assert.equal(print(c, a, b), `${source[2]}\n\n${source[0]}\n${source[1]}\n`);
  assert.equal(print(a, schema.nodes.separator.create(), b, c).split("\n\n").length, 3);
  assert.equal(print(a, b, c, schema.nodes.paragraph.create()), `${source.join("\n")}\n`);
});

test("an empty document is an empty content", () => {
  const origins = new Origins();
  const doc = origins.open("");
  assert.equal(origins.print(doc), "");
  assert.equal(origins.print(origins.open("<!-- wp:x /-->").type.create(null, schema.nodes.paragraph.create())), "");
});

test("texts that are made to be slow do not hang the page", { timeout: 60_000 }, () => {
  const quotes = (n) => "<!-- wp:quote -->\n<blockquote>".repeat(n) + "x" + "</blockquote>\n<!-- /wp:quote -->".repeat(n);
  const lists = (n) => "<!-- wp:list -->\n<ul><!-- wp:list-item -->\n<li>".repeat(n) + "x" + "</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->".repeat(n);
  for (const content of ["x" + " ".repeat(200_000) + "x", `${"a".padEnd(60)}\n`.repeat(3_000), quotes(2_000), lists(3_000)]) {
    check(content);
  }
});
