// A stored content as a document, and back: blocks that were not changed keep their stored bytes.
//
// Each top-level node has an `origin`: the id of the stored block that it was read from. As long as the node equals what
// was read, that block's bytes are printed, also after it moved or was deleted and restored.

import { split } from "../blocks/pieces.js";
import { readBlock } from "./read.js";
import { printBlock } from "./print.js";
import { schema } from "./schema.js";

const WHITE = /^[ \t\n\f\r]*$/;
/** White space between blocks, as WordPress writes it. */
const GAP = "\n\n";

let nextOrigin = 1;

export class Origins {
  /** What was read: node, stored bytes, the white space before it, and the origin of the block before. */
  #stored = new Map();
  /** White space at the end of the content, and in a content without blocks. */
  #end = "";
  /** Markup of nodes that are not as stored. */
  #printed = new WeakMap();

  /**
   * Opens a content.
   *
   * @param {string} content
   * @returns {import("prosemirror-model").Node}
   */
  open(content) {
    this.#end = "";
    const blocks = this.read(content, (end) => (this.#end = end));
    return schema.nodes.doc.create(null, blocks.length > 0 ? blocks : schema.nodes.paragraph.create());
  }

  /**
   * Reads markup to nodes that keep its bytes, also for markup that is inserted into a document.
   *
   * @param {string} content
   * @param {(end: string) => void} [onEnd] receives the white space at the end
   */
  read(content, onEnd = () => {}) {
    return this.#readParts(separate(split(content)), onEnd);
  }

  #readParts(parts, onEnd) {
    const nodes = [];
    let gap = "";
    let before = null;
    for (const part of parts) {
      if (typeof part === "string") {
        gap += part;
        continue;
      }
      const node = this.#keep(readBlock(part, this.#inner), part.source, gap, before);
      nodes.push(node);
      before = node.attrs.origin;
      gap = "";
    }
    onEnd(gap);
    return nodes;
  }

  /** How blocks and parts within blocks are read. */
  #inner = {
    blocks: (parts) => this.#readParts(parts, () => {}),
    part: (node, source) => this.#keep(node, source),
  };

  /** Gives a node an origin, which has its stored bytes. */
  #keep(read, source, gap = "", before = null) {
    const origin = `o${nextOrigin++}`;
    const node = read.type.create({ ...read.attrs, origin }, read.content, read.marks);
    this.#stored.set(origin, { node, source, gap, before });
    return node;
  }

  /** The markup of a block. */
  markup(node) {
    return this.#markup(node);
  }

  /** The stored block that a node with its markup was, or null. */
  readAgain({ attrs: { origin, source } }) {
    const stored = this.#stored.get(origin);
    return stored?.source === source ? [stored.node] : null;
  }

  /** Whether a node is as it is stored. */
  isStored(node) {
    const stored = this.#stored.get(node.attrs.origin);
    return Boolean(stored) && (stored.node === node || stored.node.eq(node));
  }

  /**
   * The content of a document.
   *
   * @param {import("prosemirror-model").Node} doc
   */
  print(doc) {
    const out = this.#join(doc.children);
    return out === "" && this.#stored.size > 0 ? "" : out + this.#end;
  }

  /** Blocks with the white space between them. */
  #join(children) {
    const nodes = [...children];
    // The place to go on writing after the last block is not stored.
    while (nodes.length > 0 && isBlank(nodes.at(-1)) && !this.isStored(nodes.at(-1))) nodes.pop();
    let out = "";
    let before = null;
    for (const node of nodes) {
      const stored = this.#stored.get(node.attrs.origin);
      const markup = this.#markup(node);
      if (markup === "") continue;
      // The stored white space is used where the same block is before it; nothing is added before the first one.
      out += stored && stored.before === before ? stored.gap : out === "" ? "" : GAP;
      out += markup;
      before = node.attrs.origin;
    }
    return out;
  }

  /** How blocks and parts within blocks are printed. */
  #printer = {
    // An empty paragraph stays if it is all there is, so that there is a place for blocks when the block is read again.
    blocks: (nodes) => this.#join(nodes) || (nodes.map((node) => this.#markup(node)).find(Boolean) ?? ""),
    part: (node, write) => (this.isStored(node) ? this.#stored.get(node.attrs.origin).source : write(node)),
  };

  #markup(node) {
    const stored = this.#stored.get(node.attrs.origin);
    if (stored?.node === node) return stored.source;
    let markup = this.#printed.get(node);
    if (markup === undefined) {
      markup = this.isStored(node) ? stored.source : isUnfinished(node) ? "" : printBlock(node, this.#printer);
      this.#printed.set(node, markup);
    }
    return markup;
  }
}

/** Pieces, with the white space around each apart. */
function* separate(pieces) {
  for (const piece of pieces) {
    if (piece.name !== null) {
      yield piece;
    } else if (WHITE.test(piece.source)) {
      yield piece.source;
    } else {
      const start = /^[ \t\n\f\r]*/.exec(piece.source)[0];
      let last = piece.source.length;
      while (" \t\n\f\r".includes(piece.source[last - 1])) last--;
      if (start) yield start;
      yield { ...piece, source: piece.source.slice(start.length, last) };
      if (last < piece.source.length) yield piece.source.slice(last);
    }
  }
}

function isBlank(node) {
  return node.type === schema.nodes.paragraph && node.childCount === 0;
}

/** A picture that is still uploaded, without any text yet, a gallery of such ones, or an embed without a URL. */
function isUnfinished(node) {
  if (node.type === schema.nodes.gallery) return node.children.slice(0, -1).every(isUnfinished);
  if (node.type === schema.nodes.embed) return node.attrs.url === "";
  return node.type === schema.nodes.image && node.childCount === 0 && !/\s(?:src|alt)="[^"]/.test(node.attrs.img);
}
