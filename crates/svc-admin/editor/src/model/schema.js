// The document: what each block holds.
//
// Every block has `json`, the attributes in its comment, and most have `html`, the attributes of its element with the
// space before them: both are the stored text, so that what the editor does not know is carried along. `origin` says
// which stored block a block was read from (`document.js`).

import { Schema } from "prosemirror-model";
import { attribute, attributes, withAttribute } from "../blocks/html.js";

/** Attributes that each block has. */
const block = (html = "") => ({ origin: { default: null }, json: { default: "" }, html: { default: html } });

/** Attributes of a block that contains blocks: the markup before and after them, with the block's comments. */
const shell = (name, open = "", close = "") => ({ origin: { default: null }, name: { default: name }, open: { default: open }, close: { default: close } });

/** Blocks in which any block may be, also where there are only certain ones or none now. */
export const OPEN = new Set(["core/group", "core/column", "core/cover", "core/media-text", "core/details"]);

/** The class of an element, so that alignment and sizes show while writing. */
function classOf(html) {
  const value = html && attribute(html, "class");
  return value ? { class: value } : {};
}

/** The element of a picture with these attributes. */
function picture(html) {
  const attrs = attributes(html);
  return ["img", { src: attrs?.get("src") ?? "", alt: attrs?.get("alt") ?? "" }];
}

/** A mark that is one of several elements. */
const oneOf = (...names) => ({
  attrs: { tag: { default: names[0] } },
  parseDOM: names.map((tag) => ({ tag, attrs: { tag } })),
  toDOM: (mark) => [mark.attrs.tag, 0],
});

/** A cell. `html` has its attributes without the spans. */
function tableCell(tag, tableRole) {
  const span = (dom, name) => Math.max(1, Math.min(Number(dom.getAttribute(name)) || 1, MAX_SPAN));
  return {
    content: "inline*",
    tableRole,
    isolating: true,
    attrs: { html: { default: "" }, colspan: { default: 1 }, rowspan: { default: 1 } },
    parseDOM: [{ tag, getAttrs: (dom) => ({ colspan: span(dom, "colspan"), rowspan: span(dom, "rowspan"), html: aligned("", dom.dataset.align) }) }],
    toDOM: ({ attrs: { html, colspan, rowspan } }) => [tag, { ...classOf(html), ...(colspan > 1 ? { colspan } : {}), ...(rowspan > 1 ? { rowspan } : {}) }, 0],
  };
}

/** Columns or rows that a cell extends over at most. */
export const MAX_SPAN = 100;

/** Attributes of a cell with another alignment: "left", "center", "right", or anything else for none. */
export function aligned(html, align) {
  const known = ["left", "center", "right"].includes(align) ? align : null;
  const classes = (attribute(html, "class") ?? "").split(/[ \t\n\f\r]+/).filter((name) => name !== "" && !/^has-text-align-/.test(name));
  if (known) classes.unshift(`has-text-align-${known}`);
  const named = withAttribute(html, "class", classes.length > 0 ? classes.join(" ") : null);
  return withAttribute(named, "data-align", known);
}

export const schema = new Schema({
  nodes: {
    doc: { content: "block+" },

    paragraph: {
      group: "block",
      content: "inline*",
      attrs: block(),
      parseDOM: [{ tag: "p" }],
      toDOM: (node) => ["p", classOf(node.attrs.html), 0],
    },

    heading: {
      group: "block",
      content: "inline*",
      defining: true,
      attrs: { ...block(' class="wp-block-heading"'), level: { default: 2 } },
      parseDOM: [1, 2, 3, 4, 5, 6].map((level) => ({ tag: `h${level}`, attrs: heading(level) })),
      toDOM: (node) => [`h${node.attrs.level}`, classOf(node.attrs.html), 0],
    },

    list: {
      group: "block",
      content: "list_item+",
      // `plain`: items have no comments, as before WordPress 6.1.
      attrs: { ...block(' class="wp-block-list"'), ordered: { default: false }, plain: { default: false } },
      parseDOM: [
        { tag: "ul" },
        { tag: "ol", getAttrs: (dom) => orderedList(dom.getAttribute("start")) },
      ],
      toDOM: (node) => {
        const start = node.attrs.ordered && attribute(node.attrs.html, "start");
        const attrs = { ...classOf(node.attrs.html), ...(start ? { start } : {}) };
        return [node.attrs.ordered ? "ol" : "ul", attrs, 0];
      },
    },

    list_item: {
      content: "paragraph list*",
      defining: true,
      attrs: { json: { default: "" }, html: { default: "" } },
      parseDOM: [{ tag: "li" }],
      toDOM: () => ["li", 0],
    },

    quote: {
      group: "block",
      content: "block+ citation?",
      defining: true,
      // `plain`: paragraphs have no comments, as before WordPress 6.0.
      attrs: { ...block(' class="wp-block-quote"'), plain: { default: false } },
      parseDOM: [{ tag: "blockquote" }],
      toDOM: (node) => ["blockquote", classOf(node.attrs.html), 0],
    },

    citation: {
      content: "inline*",
      attrs: { html: { default: "" } },
      parseDOM: [{ tag: "blockquote > cite" }],
      toDOM: () => ["cite", { "data-placeholder": "Source" }, 0],
    },

    code_block: {
      group: "block",
      content: "text*",
      marks: "",
      code: true,
      defining: true,
      attrs: block(' class="wp-block-code"'),
      parseDOM: [{ tag: "pre", preserveWhitespace: "full" }],
      toDOM: () => ["pre", { class: "wp-block-code", spellcheck: "false" }, ["code", 0]],
    },

    preformatted: {
      group: "block",
      content: "inline*",
      whitespace: "pre",
      defining: true,
      attrs: block(' class="wp-block-preformatted"'),
      parseDOM: [{ tag: "pre.wp-block-preformatted", preserveWhitespace: "full", priority: 60 }],
      toDOM: () => ["pre", { class: "wp-block-preformatted" }, 0],
    },

    html: {
      group: "block",
      content: "text*",
      marks: "",
      code: true,
      defining: true,
      attrs: block(),
      toDOM: () => ["div", { "data-block": "html", "data-label": "HTML", spellcheck: "false" }, ["code", 0]],
    },

    image: {
      group: "block",
      content: "inline*",
      draggable: true,
      isolating: true,
      attrs: {
        ...block(' class="wp-block-image"'),
        /** Attributes of the picture, of the link around it (null for none), and of the caption. */
        img: { default: ' alt=""' },
        link: { default: null },
        caption: { default: ' class="wp-element-caption"' },
        /** Id of the upload that supplies the picture, or null. Not stored. */
        upload: { default: null },
      },
      // Only `clean.js` makes these elements of what is pasted.
      parseDOM: [
        { tag: "figure[data-block=image]", contentElement: "figcaption", getAttrs: (dom) => ({ img: dom.dataset.img }) },
      ],
      toDOM: (node) => ["figure", picture(node.attrs.img), ["figcaption", 0]],
    },

    separator: {
      group: "block",
      attrs: block(' class="wp-block-separator has-alpha-channel-opacity"'),
      parseDOM: [{ tag: "hr" }],
      toDOM: () => ["hr"],
    },

    // A table's rows are in a node of their own, since a caption is not one of them.
    table: {
      group: "block",
      content: "table_grid caption",
      isolating: true,
      draggable: true,
      attrs: {
        ...block(' class="wp-block-table"'),
        /** Attributes of the table element and of its sections. */
        table: { default: ' class="has-fixed-layout"' },
        head: { default: "" },
        body: { default: "" },
        foot: { default: "" },
      },
      parseDOM: [{ tag: "figure[data-block=table]" }],
      toDOM: (node) => ["figure", { class: `editor-table ${classOf(node.attrs.html).class ?? ""}` }, 0],
    },

    table_grid: {
      content: "table_row+",
      tableRole: "table",
      isolating: true,
      parseDOM: [{ tag: "table" }],
      toDOM: () => ["div", { class: "editor-table-scroll" }, ["table", ["tbody", 0]]],
    },

    table_row: {
      content: "(table_cell | table_header)*",
      tableRole: "row",
      attrs: { html: { default: "" }, section: { default: "body" } },
      parseDOM: [{ tag: "tr", getAttrs: (dom) => ({ section: { THEAD: "head", TFOOT: "foot" }[dom.parentNode?.tagName] ?? "body" }) }],
      toDOM: (node) => ["tr", { "data-section": node.attrs.section }, 0],
    },

    table_cell: tableCell("td", "cell"),
    table_header: tableCell("th", "header_cell"),

    // The caption of a block that contains other nodes. An empty one is not stored.
    caption: {
      content: "inline*",
      isolating: true,
      attrs: { origin: { default: null }, html: { default: ' class="wp-element-caption"' } },
      parseDOM: [{ tag: "figcaption", context: "table/" }],
      toDOM: () => ["figcaption", { "data-placeholder": "Caption" }, 0],
    },

    // A block that contains any blocks, whose own markup is a wrapper that stays as it is.
    container: {
      group: "block part",
      content: "block+",
      isolating: true,
      attrs: shell("core/group", '<!-- wp:group {"layout":{"type":"constrained"}} -->\n<div class="wp-block-group">', "</div>\n<!-- /wp:group -->"),
      toDOM: () => ["div", 0],
    },

    // One that contains blocks of certain kinds only: columns, buttons, what plugins have of that sort.
    frame: {
      group: "block part",
      content: "part+",
      isolating: true,
      attrs: shell("core/columns", '<!-- wp:columns -->\n<div class="wp-block-columns">', "</div>\n<!-- /wp:columns -->"),
      toDOM: () => ["div", 0],
    },

    gallery: {
      group: "block part",
      content: "(image | opaque)+ caption",
      isolating: true,
      attrs: shell("core/gallery", '<!-- wp:gallery {"linkTo":"none"} -->\n<figure class="wp-block-gallery has-nested-images columns-default is-cropped">', "</figure>\n<!-- /wp:gallery -->"),
      toDOM: () => ["div", 0],
    },

    details: {
      group: "block part",
      content: "summary block+",
      isolating: true,
      attrs: shell("core/details", '<!-- wp:details -->\n<details class="wp-block-details">', "</details>\n<!-- /wp:details -->"),
      toDOM: () => ["div", 0],
    },

    summary: {
      content: "inline*",
      isolating: true,
      attrs: { origin: { default: null }, html: { default: "" } },
      toDOM: () => ["div", { class: "editor-summary", "data-placeholder": "Summary" }, 0],
    },

    // `link` has the attributes of the element within the block's own, an `a` or a `button`.
    button: {
      group: "block part",
      content: "inline*",
      marks: "tag strong em strike sub sup code",
      isolating: true,
      attrs: { ...block(' class="wp-block-button"'), tag: { default: "a" }, link: { default: ' class="wp-block-button__link wp-element-button"' } },
      toDOM: () => ["div", ["span", 0]],
    },

    // An embed, which is stored as its URL. The text is the caption.
    embed: {
      group: "block part",
      content: "inline*",
      draggable: true,
      isolating: true,
      attrs: {
        ...block(' class="wp-block-embed"'),
        url: { default: "" },
        wrapper: { default: ' class="wp-block-embed__wrapper"' },
        caption: { default: ' class="wp-element-caption"' },
        /** Whether the server may still find out its type. Not stored. */
        isNew: { default: false },
      },
      toDOM: () => ["figure", ["figcaption", 0]],
    },

    // A block that is shown and stored as it is. `name` is null for text outside blocks.
    opaque: {
      group: "block part",
      atom: true,
      draggable: true,
      attrs: { origin: { default: null }, name: { default: null }, source: { default: "" } },
      parseDOM: [
        { tag: "div[data-block=opaque]", getAttrs: (dom) => ({ name: dom.dataset.name || null, source: dom.dataset.source }) },
      ],
      toDOM: ({ attrs }) => ["div", attrs.name ?? ""],
    },

    text: { group: "inline" },

    hard_break: {
      group: "inline",
      inline: true,
      selectable: false,
      linebreakReplacement: true,
      parseDOM: [{ tag: "br" }],
      toDOM: () => ["br"],
    },

    // An image within text.
    picture: {
      group: "inline",
      inline: true,
      draggable: true,
      attrs: { html: {} },
      toDOM: (node) => picture(node.attrs.html),
    },
  },

  // The order is that of nesting where several formats begin at one place.
  marks: {
    // `rest` has the attributes other than `href` as stored.
    link: {
      attrs: { href: {}, rest: { default: "" } },
      inclusive: false,
      parseDOM: [{ tag: "a[href]", getAttrs: (dom) => ({ href: dom.getAttribute("href") }) }],
      toDOM: (mark) => ["a", { href: mark.attrs.href, rel: "noopener" }, 0],
    },
    // Any other element within text.
    tag: {
      attrs: { name: {}, html: { default: "" } },
      excludes: "",
      parseDOM: ["u", "ins", "mark", "kbd", "small", "abbr", "q", "var", "samp", "dfn"].map((name) => ({ tag: name, attrs: { name } })),
      toDOM: (mark) => [mark.attrs.name, classOf(mark.attrs.html), 0],
    },
    strong: oneOf("strong", "b"),
    em: oneOf("em", "i"),
    strike: oneOf("s", "del", "strike"),
    sub: { excludes: "sub sup", parseDOM: [{ tag: "sub" }], toDOM: () => ["sub", 0] },
    sup: { excludes: "sub sup", parseDOM: [{ tag: "sup" }], toDOM: () => ["sup", 0] },
    code: { code: true, parseDOM: [{ tag: "code" }], toDOM: () => ["code", { spellcheck: "false" }, 0] },
  },
});

/** Attributes of a new heading. */
export function heading(level) {
  return { level, json: level === 2 ? "" : `{"level":${level}}` };
}

/** Attributes of a new numbered list. */
export function orderedList(start = null) {
  const from = /^-?\d+$/.test(start ?? "") && start !== "1" ? start : null;
  if (from === null) return { ordered: true, json: '{"ordered":true}' };
  return { ordered: true, json: `{"ordered":true,"start":${Number(from)}}`, html: ` start="${Number(from)}" class="wp-block-list"` };
}
