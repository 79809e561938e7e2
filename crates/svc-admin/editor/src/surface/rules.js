// Markdown shortcuts while typing.

import { InputRule, inputRules, textblockTypeInputRule, wrappingInputRule } from "prosemirror-inputrules";
import { Selection } from "prosemirror-state";
import { heading, orderedList, schema } from "../model/schema.js";

const { nodes, marks } = schema;

/** Text between two signs gets a format, and the signs are removed. */
function markRule(pattern, type) {
  return new InputRule(pattern, (state, match, start, end) => {
    const [whole, before, text] = match;
    const from = start + before.length;
    const $from = state.doc.resolve(from);
    if (!$from.parent.type.allowsMarkType(type) || text.trim() !== text) return null;
    // The last character is not in the document yet.
    const open = whole.length - before.length - text.length;
    const sign = open / 2;
    const textStart = from + sign;
    const tr = state.tr.delete(textStart + text.length, end).delete(from, textStart);
    return tr.addMark(from, from + text.length, type.create()).removeStoredMark(type);
  }, { inCodeMark: false });
}

const separator = new InputRule(/^(?:---|—-|\*\*\*)$/, (state, _match, start, end) => {
  const $start = state.doc.resolve(start);
  if ($start.parent.type !== nodes.paragraph || $start.node(-1).type === nodes.list_item) return null;
  const tr = state.tr.replaceWith($start.before(), state.doc.resolve(end).after(), [nodes.separator.create(), nodes.paragraph.create()]);
  return tr.setSelection(Selection.near(tr.doc.resolve($start.before() + 1), 1));
});

const onlyParagraph = (rule) =>
  new InputRule(rule.match, (state, match, start, end) => (state.doc.resolve(start).parent.type === nodes.paragraph ? rule.handler(state, match, start, end) : null));

export const rules = () =>
  inputRules({
    rules: [
      onlyParagraph(textblockTypeInputRule(/^(#{1,6})\s$/, nodes.heading, (match) => heading(match[1].length))),
      onlyParagraph(textblockTypeInputRule(/^```\s?$/, nodes.code_block)),
      onlyParagraph(wrappingInputRule(/^\s*[-*+]\s$/, nodes.list, null, (_match, list) => !list.attrs.ordered)),
      onlyParagraph(
        wrappingInputRule(
          /^(\d+)[.)]\s$/,
          nodes.list,
          (match) => orderedList(match[1]),
          (match, list) => list.attrs.ordered && list.childCount + 1 === Number(match[1]),
        ),
      ),
      onlyParagraph(wrappingInputRule(/^\s*>\s$/, nodes.quote)),
      separator,
      markRule(/(^|[^*])\*\*([^*]+)\*\*$/, marks.strong),
      markRule(/(^|[^\w_])__([^_]+)__$/, marks.strong),
      markRule(/(^|[^*])\*([^*]+)\*$/, marks.em),
      markRule(/(^|[^\w_])_([^_]+)_$/, marks.em),
      markRule(/(^|[^~])~~([^~]+)~~$/, marks.strike),
      markRule(/(^|[^`])`([^`]+)`$/, marks.code),
    ],
  });
