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

/**
 * Types into each block in turn that has text, also within other blocks; all other bytes must stay. Returns how many
 * there were.
 */
function checkEdits(content) {
  const origins = new Origins();
  const doc = origins.open(content);
  let edited = 0;
  doc.descendants((node, pos) => {
    const inside = node.attrs.origin ? firstText(node) : null;
    if (inside === null || node.isInline) return node.isBlock;
    // Where the block is in the content: it is printed as a mark.
    const { type, attrs: { origin } } = node;
    const isPart = type === schema.nodes.caption || type === schema.nodes.summary;
    const mark = isPart ? type.create({ html: " \u0001" }, schema.text("x")) : schema.nodes.opaque.create({ origin, source: "\u0001" });
    let marked = doc;
    const tr = new Transform(doc);
    if (isReplaceable(doc, pos, mark)) marked = tr.replaceWith(pos, pos + node.nodeSize, mark).doc;
    const typed = new Transform(doc).insert(pos + inside, schema.text("typed ")).doc;
    const printed = origins.print(typed);
    assert.ok(printed.includes("typed "));
    if (marked !== doc) {
      const shown = origins.print(marked);
      const [before, after] = isPart ? shown.split(/<(?:figcaption|summary) \u0001>x<\/(?:figcaption|summary)>/) : shown.split("\u0001");
      assert.ok(content.startsWith(before) && content.endsWith(after), "the rest is as stored");
      assert.ok(printed.startsWith(before), "what is before the block");
      assert.ok(printed.endsWith(after), "what is after the block");
      edited += 1;
    }
    return true;
  });
  return edited;
}

/** Whether a node may take another one's place. */
function isReplaceable(doc, pos, by) {
  const $pos = doc.resolve(pos);
  return $pos.parent.canReplaceWith($pos.index(), $pos.index() + 1, by.type);
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
  const groups = (n) => "<!-- wp:group -->\n<div>".repeat(n) + "<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->" + "</div>\n<!-- /wp:group -->".repeat(n);
  const summaries = (n) => `<!-- wp:details --><details>${"<summary>".repeat(n)}</summary><!-- wp:x /--></details><!-- /wp:details -->`;
  const cells = (rows, columns) => `<!-- wp:table --><figure><table><tbody>${`<tr>${"<td rowspan=\"1\">x</td>".repeat(columns)}</tr>`.repeat(rows)}</tbody></table></figure><!-- /wp:table -->`.replaceAll(' rowspan="1"', rows > 1_000 ? ' rowspan="2"' : "");
  for (const content of ["x" + " ".repeat(200_000) + "x", `${"a".padEnd(60)}\n`.repeat(3_000), quotes(2_000), lists(3_000), groups(20), groups(3_000), summaries(20_000), cells(900, 5), cells(3_000, 3)]) {
    check(content);
  }
});
