// Says where to begin in an empty post, and how to insert blocks in an empty paragraph.

import { Plugin } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { schema } from "../model/schema.js";

export function placeholder() {
  return new Plugin({
    props: {
      decorations({ doc, selection }) {
        const { $from, empty } = selection;
        const only = doc.childCount === 1 && doc.firstChild.type === schema.nodes.paragraph && doc.firstChild.childCount === 0;
        if (only) return DecorationSet.create(doc, [hint(0, doc.firstChild, "Write, or type / for blocks")]);
        const parent = $from.parent;
        if (!empty || !FREE.has($from.node(-1)?.type.name) || parent.type !== schema.nodes.paragraph || parent.childCount > 0) return null;
        return DecorationSet.create(doc, [hint($from.before(), parent, "Type / for blocks")]);
      },
    },
  });
}

/** Where any block may be. */
const FREE = new Set(["doc", "container", "details"]);

function hint(pos, node, text) {
  return Decoration.node(pos, pos + node.nodeSize, { class: "is-empty", "data-placeholder": text });
}
