// What is written for each block, against what the `save` of that block wrote in the block editor of WordPress 7.1.4; and
// which stored blocks can be edited.

import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { set, stringify } from "../src/blocks/json.js";
import { withAttribute } from "../src/blocks/html.js";
import { same } from "../src/blocks/equal.js";
import { split } from "../src/blocks/pieces.js";
import { aligned, heading, orderedList, schema } from "../src/model/schema.js";
import { Origins } from "../src/model/document.js";
import { printBlock } from "../src/model/print.js";
import { HOSTS, providerOf } from "../src/blocks/providers.js";
import { embedAttrs, ratioOf } from "../src/surface/embed.js";
import { buttons, column, newButton } from "../src/surface/layout.js";
import { newTable } from "../src/surface/table.js";
import { Random, randomDoc } from "./generate.js";

const { nodes, marks } = schema;
const text = (value, ...names) => schema.text(value, names.map((name) => marks[name].create()));
const p = (...content) => nodes.paragraph.create(null, content.map((part) => (typeof part === "string" ? text(part) : part)));
const item = (...content) => nodes.list_item.create(null, content);

const row = (section, ...cells) => nodes.table_row.create({ section }, cells);

const CASES = {
  "paragraph": [
    p("a & b < c \u00a0 \"q\" 'x' ", text("b", "strong"), " -- ", text("i", "em")),
    "<!-- wp:paragraph -->\n<p>a &amp; b &lt; c &nbsp; \"q\" 'x' <strong>b</strong> -- <em>i</em></p>\n<!-- /wp:paragraph -->",
  ],
  "empty paragraph": [p(), "<!-- wp:paragraph -->\n<p></p>\n<!-- /wp:paragraph -->"],
  "formats that overlap": [
    p(text("a", "strong"), text("b", "strong", "em"), text("c", "em")),
    "<!-- wp:paragraph -->\n<p><strong>a<em>b</em></strong><em>c</em></p>\n<!-- /wp:paragraph -->",
  ],
  "link in bold": [
    p(text("a ", "strong"), schema.text("b", [marks.link.create({ href: "https://example.org/?a=1&b=2" }), marks.strong.create()]), text(" c", "strong")),
    "<!-- wp:paragraph -->\n<p><strong>a <a href=\"https://example.org/?a=1&amp;b=2\">b</a> c</strong></p>\n<!-- /wp:paragraph -->",
  ],
  "heading": [nodes.heading.create(null, text("x")), "<!-- wp:heading -->\n<h2 class=\"wp-block-heading\">x</h2>\n<!-- /wp:heading -->"],
  "heading 3": [nodes.heading.create(heading(3), text("x")), "<!-- wp:heading {\"level\":3} -->\n<h3 class=\"wp-block-heading\">x</h3>\n<!-- /wp:heading -->"],
  "list": [
    nodes.list.create(null, [item(p("a")), item(p("b"), nodes.list.create(orderedList(), [item(p("c"))]))]),
    "<!-- wp:list -->\n<ul class=\"wp-block-list\"><!-- wp:list-item -->\n<li>a</li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li>b<!-- wp:list {\"ordered\":true} -->\n<ol class=\"wp-block-list\"><!-- wp:list-item -->\n<li>c</li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list --></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->",
  ],
  "quote": [
    nodes.quote.create(null, [p("a"), p("b"), nodes.citation.create(null, [text("Me "), text("x", "em")])]),
    "<!-- wp:quote -->\n<blockquote class=\"wp-block-quote\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:paragraph -->\n<p>b</p>\n<!-- /wp:paragraph --><cite>Me <em>x</em></cite></blockquote>\n<!-- /wp:quote -->",
  ],
  "code": [
    nodes.code_block.create(null, text("a < b && c [x] \"q\"\n  https://example.org/x\nhttps://example.org/y z")),
    "<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>a &lt; b &amp;&amp; c &#91;x] \"q\"\n  https:&#47;&#47;example.org/x\nhttps://example.org/y z</code></pre>\n<!-- /wp:code -->",
  ],
  "preformatted": [
    nodes.preformatted.create(null, [text("a\n  b "), text("c", "strong")]),
    "<!-- wp:preformatted -->\n<pre class=\"wp-block-preformatted\">a\n  b <strong>c</strong></pre>\n<!-- /wp:preformatted -->",
  ],
  "image": [
    nodes.image.create({
      json: stringify({ id: 12, sizeSlug: "large", linkDestination: "none" }),
      html: ' class="wp-block-image size-large"',
      img: withAttribute(' src="https://e.org/a.jpg?x=1&amp;y=2" alt="" class="wp-image-12"', "alt", 'An "alt" & <more>'),
    }, [text("Cap "), text("x", "em")]),
    "<!-- wp:image {\"id\":12,\"sizeSlug\":\"large\",\"linkDestination\":\"none\"} -->\n<figure class=\"wp-block-image size-large\"><img src=\"https://e.org/a.jpg?x=1&amp;y=2\" alt=\"An &quot;alt&quot; &amp; &lt;more&gt;\" class=\"wp-image-12\"/><figcaption class=\"wp-element-caption\">Cap <em>x</em></figcaption></figure>\n<!-- /wp:image -->",
  ],
  "empty image": [nodes.image.create(), "<!-- wp:image -->\n<figure class=\"wp-block-image\"><img alt=\"\"/></figure>\n<!-- /wp:image -->"],
  "table": [
    nodes.table.create(null, [
      nodes.table_grid.create(null, [
        row("head", nodes.table_header.create({ html: aligned("", "center") }, text("a & b")), nodes.table_header.create()),
        row("body", nodes.table_cell.create({ colspan: 2 }, [text("c", "strong"), nodes.hard_break.create(), text("d")])),
        row("foot", nodes.table_cell.create(null, text("e")), nodes.table_cell.create({ html: aligned("", "right") })),
      ]),
      nodes.caption.create(null, text("Cap")),
    ]),
    "<!-- wp:table -->\n<figure class=\"wp-block-table\"><table class=\"has-fixed-layout\"><thead><tr><th class=\"has-text-align-center\" data-align=\"center\">a &amp; b</th><th></th></tr></thead><tbody><tr><td colspan=\"2\"><strong>c</strong><br>d</td></tr></tbody><tfoot><tr><td>e</td><td class=\"has-text-align-right\" data-align=\"right\"></td></tr></tfoot></table><figcaption class=\"wp-element-caption\">Cap</figcaption></figure>\n<!-- /wp:table -->",
  ],
  "new table": [newTable(2, 1), "<!-- wp:table -->\n<figure class=\"wp-block-table\"><table class=\"has-fixed-layout\"><tbody><tr><td></td><td></td></tr></tbody></table></figure>\n<!-- /wp:table -->"],
  "columns": [
    nodes.frame.create(null, [column([p("a"), p("b")]), column([nodes.separator.create()])]),
    "<!-- wp:columns -->\n<div class=\"wp-block-columns\"><!-- wp:column -->\n<div class=\"wp-block-column\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:paragraph -->\n<p>b</p>\n<!-- /wp:paragraph --></div>\n<!-- /wp:column -->\n\n<!-- wp:column -->\n<div class=\"wp-block-column\"><!-- wp:separator -->\n<hr class=\"wp-block-separator has-alpha-channel-opacity\"/>\n<!-- /wp:separator --></div>\n<!-- /wp:column --></div>\n<!-- /wp:columns -->",
  ],
  "group": [
    nodes.container.create(null, p("a")),
    "<!-- wp:group {\"layout\":{\"type\":\"constrained\"}} -->\n<div class=\"wp-block-group\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph --></div>\n<!-- /wp:group -->",
  ],
  "details": [
    nodes.details.create(null, [nodes.summary.create(null, [text("a & "), text("b", "em")]), p("c")]),
    "<!-- wp:details -->\n<details class=\"wp-block-details\"><summary>a &amp; <em>b</em></summary><!-- wp:paragraph -->\n<p>c</p>\n<!-- /wp:paragraph --></details>\n<!-- /wp:details -->",
  ],
  "buttons": [
    buttons([newButton(text("a", "strong"), { link: withAttribute(' class="wp-block-button__link wp-element-button"', "href", "https://e.org/?a&b") }), newButton()]),
    "<!-- wp:buttons -->\n<div class=\"wp-block-buttons\"><!-- wp:button -->\n<div class=\"wp-block-button\"><a class=\"wp-block-button__link wp-element-button\" href=\"https://e.org/?a&amp;b\"><strong>a</strong></a></div>\n<!-- /wp:button -->\n\n<!-- wp:button -->\n<div class=\"wp-block-button\"><a class=\"wp-block-button__link wp-element-button\"></a></div>\n<!-- /wp:button --></div>\n<!-- /wp:buttons -->",
  ],
  "gallery": [
    nodes.gallery.create(null, [nodes.image.create({ img: ' src="a.jpg" alt=""' }), nodes.image.create({ img: ' src="b.jpg" alt=""' }, text("c")), nodes.caption.create(null, text("d"))]),
    "<!-- wp:gallery {\"linkTo\":\"none\"} -->\n<figure class=\"wp-block-gallery has-nested-images columns-default is-cropped\"><!-- wp:image -->\n<figure class=\"wp-block-image\"><img src=\"a.jpg\" alt=\"\"/></figure>\n<!-- /wp:image -->\n\n<!-- wp:image -->\n<figure class=\"wp-block-image\"><img src=\"b.jpg\" alt=\"\"/><figcaption class=\"wp-element-caption\">c</figcaption></figure>\n<!-- /wp:image --><figcaption class=\"wp-element-caption\">d</figcaption></figure>\n<!-- /wp:gallery -->",
  ],
  "embed": [
    nodes.embed.create(embedAttrs("https://www.youtube.com/watch?v=x&t=1", { name: "youtube", type: "video" }, [16, 9]), text("a")),
    "<!-- wp:embed {\"url\":\"https://www.youtube.com/watch?v=x\\u0026t=1\",\"type\":\"video\",\"providerNameSlug\":\"youtube\",\"responsive\":true,\"className\":\"wp-embed-aspect-16-9 wp-has-aspect-ratio\"} -->\n<figure class=\"wp-block-embed is-type-video is-provider-youtube wp-block-embed-youtube wp-embed-aspect-16-9 wp-has-aspect-ratio\"><div class=\"wp-block-embed__wrapper\">\nhttps://www.youtube.com/watch?v=x&amp;t=1\n</div><figcaption class=\"wp-element-caption\">a</figcaption></figure>\n<!-- /wp:embed -->",
  ],
  "separator": [nodes.separator.create(), "<!-- wp:separator -->\n<hr class=\"wp-block-separator has-alpha-channel-opacity\"/>\n<!-- /wp:separator -->"],
  "HTML": [nodes.html.create(null, text("<div>\n<b>x</b> & y</div>")), "<!-- wp:html -->\n<div>\n<b>x</b> & y</div>\n<!-- /wp:html -->"],
};

for (const [name, [node, markup]] of Object.entries(CASES)) {
  test(`${name} is written as the block editor does`, () => {
    node.check();
    assert.equal(printBlock(node), markup);
    const [read] = new Origins().read(markup);
    assert.deepEqual(withoutOrigins(read.toJSON()), withoutOrigins(node.toJSON()));
  });
}

test("attributes are escaped as the block editor does", () => {
  assert.equal(
    stringify({ placeholder: 'x--y <b> & "q" \\ é' }),
    '{"placeholder":"x\\u002d\\u002dy \\u003cb\\u003e \\u0026 \\u0022q\\u0022 \\u005c é"}',
  );
  assert.equal(set('{"id": 1, "x": 1.0}', "id", 1), '{"id": 1, "x": 1.0}');
  assert.equal(set('{"level":3}', "level", undefined), "");
});

test("generated documents are read back as they were", () => {
  const random = new Random(7);
  for (let n = 0; n < 1000; n += 1) {
    const doc = randomDoc(random);
    const again = new Origins().open(new Origins().print(doc));
    assert.deepEqual(withoutOrigins(again.toJSON()), withoutOrigins(doc.toJSON()));
  }
});

const INNER = "<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->";
const WRAPPERS = [
  ["core/group", "<div>", "</div>", "container"],
  ["core/cover", "<div><img src=\"a\" alt/><span></span><div class='b'>\n", " </div>\n</div>", "container"],
  ["my/box", "<x-a data-b=\"<\">", "</x-a>", "container"],
  ["my/bare", "", "", "container"],
  ["core/details", "<details><summary id=a>b <b>c</b></summary>", "</details>", "details"],
  ["core/details", "<details>", "</details>", "opaque"],
  ["core/details", "<details><summary><p>a</p></summary>", "</details>", "opaque"],
  ["core/gallery", "<figure>", "</figure>", "opaque"],
  ["core/group", "<div title=\"", "\"></div>", "opaque"],
  ["core/group", "<div><!-- ", " --></div>", "opaque"],
  ["core/group", "<textarea>", "</textarea>", "opaque"],
  ["core/group", "<script>", "</script>", "opaque"],
  ["core/group", "<div>", "", "opaque"],
  ["core/group", "<div>", "</p>", "opaque"],
  ["core/group", "<div><!-- note -->", "</div>", "opaque"],
  ["core/group", "<div x=\"&unknown;", "\"></div>", "opaque"],
];

test("wrappers stay as they are, and only wrappers are edited inside", () => {
  for (const [name, open, close, type] of WRAPPERS) {
    const short = name.replace("core/", "");
    const markup = `<!-- wp:${short} {"a":1.0} -->${open}${INNER}${close}<!-- /wp:${short} -->`;
    const origins = new Origins();
    const [node, ...more] = origins.read(markup);
    assert.equal(node.type.name, type, markup);
    assert.equal(more.length, 0);
    assert.equal(printBlock(node).replaceAll("\n", ""), markup.replaceAll("\n", ""), "also without what is stored");
    if (type === "opaque") continue;
    const index = node.childCount - 1;
    const changed = node.copy(node.content.replaceChild(index, p("y")));
    assert.equal(origins.print(nodes.doc.create(null, changed)), markup.replace(INNER, "<!-- wp:paragraph -->\n<p>y</p>\n<!-- /wp:paragraph -->"));
  }
});

test("providers are those of the server", () => {
  const server = readFileSync(new URL("../../../svc-controllers/src/oembed/providers.rs", import.meta.url), "utf8");
  const hosts = [...server.matchAll(/^ {4}provider\(&\[([^\]]*)\]/gm)].flatMap(([, list]) => [...list.matchAll(/"([^"]+)"/g)].map(([, host]) => host));
  assert.deepEqual(HOSTS, hosts);
  const cases = { "https://m.youtube.com/watch?v=x": "youtube", "https://x.com/a/status/1": "twitter", "https://youtu.be/x": "youtube" };
  for (const [url, name] of Object.entries(cases)) assert.equal(providerOf(url)?.name, name);
  for (const url of ["https://www.youtube.com/about", "https://notyoutube.com/watch", "https://youtube.com.example/watch", "https://youtube.com@example/watch", "ftp://youtube.com/watch", "https://x.com//status/1", "x"]) assert.equal(providerOf(url), null, url);
  assert.deepEqual(['<iframe width="500" height="281">', "<iframe src=x height='375' width='500' >", "<iframe width=500 height=100>", "<p>"].map(ratioOf), [[16, 9], [4, 3], null, null]);
});

test("blocks with nothing to edit stay as they are", () => {
  const types = (markup) => new Origins().read(markup).map((node) => node.type.name);
  assert.deepEqual(types("<!-- wp:social-links --><ul><!-- wp:social-link /--></ul><!-- /wp:social-links -->"), ["opaque"]);
  assert.deepEqual(types("<!-- wp:column --><div class=\"c\">\n</div><!-- /wp:column -->"), ["container"]);
  assert.deepEqual(types("<!-- wp:group --><div>text</div><!-- /wp:group -->"), ["opaque"]);
  assert.deepEqual(types(`<!-- wp:group --><div>${INNER} text ${INNER}</div><!-- /wp:group -->`), ["opaque"]);
});

function withoutOrigins(json) {
  return JSON.parse(JSON.stringify(json, (key, value) => (key === "origin" ? undefined : value)));
}

const EDITED = [
  ["<!-- wp:paragraph {\"align\":\"center\",\"my\":[1.50]} -->\n<p class=\"has-text-align-center\" style=\"color:red\">x</p>\n<!-- /wp:paragraph -->", "paragraph"],
  ["<!-- wp:core/paragraph -->  <p>a &#8217; &eacute; <b>x</b><br />\ny</p><!-- /wp:core/paragraph -->", "paragraph"],
  ["<!-- wp:paragraph --><p><em><strong>x</strong></em> <sup data-fn=\"1\" class=\"fn\"><a href=\"#1\" id=\"f\">1</a></sup></p><!-- /wp:paragraph -->", "paragraph"],
  ["<!-- wp:list {\"ordered\":true} --><ol><li>a</li><li>b<ul><li>c</li></ul></li></ol><!-- /wp:list -->", "list"],
  ["<!-- wp:quote --><blockquote class=\"wp-block-quote is-style-plain\"><p>a</p><p>b</p><cite>c</cite></blockquote><!-- /wp:quote -->", "quote"],
  ["<!-- wp:image {\"align\":\"wide\"} -->\n<figure class=\"wp-block-image alignwide\"><a href=\"/x\" rel=\"y\"><img src=\"a.jpg\" alt=\"\" width=\"10\" /></a></figure>\n<!-- /wp:image -->", "image"],
  ["<!-- wp:table {\"hasFixedLayout\":false,\"className\":\"is-style-stripes\"} -->\n<figure class=\"wp-block-table is-style-stripes\" id=\"t\"><table style=\"border-width:1px\" data-x>\n<thead class=\"h\"><tr class='r'><th scope=\"col\" data-align=\"left\" class=\"has-text-align-left x\">a</th><th>b</th></tr></thead>\n<tbody><tr><td rowspan=\"2\">c <a href=\"#x\">d</a></td><td>e</td></tr>\n<tr><td><img src=\"x.png\" alt=\"\"/></td></tr></tbody></table><figcaption>f</figcaption></figure>\n<!-- /wp:table -->", "table"],
  ["<!-- wp:embed {\"url\":\"https://e.org/x\",\"a\":1.0} --><figure class='e' data-x>\n<div class=\"wp-block-embed__wrapper\">\n  https://e.org/x?a&amp;b \n</div><figcaption>c</figcaption></figure><!-- /wp:embed -->", "embed"],
];
const OPAQUE = [
  "<!-- wp:embed --><figure><div>https://e.org/x</div></figure><!-- /wp:embed -->",
  "<!-- wp:embed --><figure><div>\nhttps://e.org/x y\n</div></figure><!-- /wp:embed -->",
  "<!-- wp:embed --><figure><div>\n<a href=\"x\">https://e.org/x</a>\n</div></figure><!-- /wp:embed -->",
  "<!-- wp:embed --><figure><div>\nhttps://e.org/x\n</div><figcaption></figcaption></figure><!-- /wp:embed -->",
  "<!-- wp:paragraph --><p>a</p><p>b</p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p>a <!-- more --> b</p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p>a<a id=\"anchor\"></a></p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p>a <button>x</button></p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p>a &unknown; b</p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p>a <em>b</p></em><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p><a href=\"x\">a</a><a href=\"x\">b</a></p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p><br class=\"x\">a</p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph [1] --><p>a</p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph {\"a\":} --><p>a</p><!-- /wp:paragraph -->",
  "<!-- wp:paragraph --><p>a</p><!-- /wp:other -->",
  "<!-- wp:paragraph /-->",
  "<!-- wp:heading {\"level\":3} --><h2>x</h2><!-- /wp:heading -->",
  "<!-- wp:list --><ul><!-- wp:list-item --><li>a<p>b</p></li><!-- /wp:list-item --></ul><!-- /wp:list -->",
  "<!-- wp:list --><ul><!-- wp:list-item --><li>a</li> tail<!-- /wp:list-item --></ul><!-- /wp:list -->",
  "<!-- wp:list --><ul class=\"<\"><!-- wp:list-item --><li>a</li><!-- /wp:list-item --></ul><!-- /wp:list -->",
  "<!-- wp:quote --><blockquote><p>a</p>text</blockquote><!-- /wp:quote -->",
  "<!-- wp:code --><pre class=\"wp-block-code\"><code>a <b>x</b></code></pre><!-- /wp:code -->",
  "<!-- wp:code --><pre class=\"wp-block-code\"><code lang=\"c\">a</code></pre><!-- /wp:code -->",
  "<!-- wp:image --><figure class=\"wp-block-image\"><img src=\"a\" src=\"b\"/></figure><!-- /wp:image -->",
  "<!-- wp:image --><div class=\"wp-block-image\"><figure><img src=\"a\"/></figure></div><!-- /wp:image -->",
  "<!-- wp:separator --><hr/><hr/><!-- /wp:separator -->",
  ...[
    "",
    "<tbody></tbody>",
    "<tr><td>a</td></tr>",
    "<tbody><tr><td>a</td></tr></tbody><tbody><tr><td>b</td></tr></tbody>",
    "<tfoot><tr><td>a</td></tr></tfoot><tbody><tr><td>b</td></tr></tbody>",
    "<colgroup><col/></colgroup><tbody><tr><td>a</td></tr></tbody>",
    "<tbody><tr><td>a</td></tr><tr><td>b</td><td>c</td></tr></tbody>",
    "<tbody><tr><td rowspan=\"3\">a</td><td>b</td></tr><tr><td>c</td></tr></tbody>",
    "<thead><tr><th rowspan=\"2\">a</th><th>b</th></tr></thead><tbody><tr><td>c</td></tr></tbody>",
    "<tbody><tr><td colspan=\"1\">a</td></tr></tbody>",
    "<tbody><tr><td colspan=\"1000000\">a</td></tr></tbody>",
    "<tbody><tr><td><p>a</p></td></tr></tbody>",
    "<tbody><tr><td>a<table><tbody><tr><td>b</td></tr></tbody></table></td></tr></tbody>",
    "<caption>c</caption><tbody><tr><td>a</td></tr></tbody>",
    "<tbody>text<tr><td>a</td></tr></tbody>",
  ].map((inside) => `<!-- wp:table --><figure class="wp-block-table"><table>${inside}</table></figure><!-- /wp:table -->`),
  "<!-- wp:table --><table class=\"wp-block-table\"><tbody><tr><td>a</td></tr></tbody></table><!-- /wp:table -->",
  "<!-- wp:table --><figure class=\"wp-block-table\"><table><tbody><tr><td>a</td></tr></tbody></table><figcaption></figcaption></figure><!-- /wp:table -->",
];

test("stored blocks that the document holds completely are edited, with what it does not know", () => {
  for (const [markup, type] of EDITED) {
    const [node, ...more] = new Origins().read(markup);
    assert.equal(node.type.name, type, markup);
    assert.equal(more.length, 0);
    assert.ok(same(printBlock(node), markup), markup);
  }
  const [node] = new Origins().read(EDITED[0][0]);
  const changed = node.copy(node.content.append(p(" more").content));
  assert.equal(printBlock(changed), EDITED[0][0].replace("x</p>", "x more</p>"));
});

test("other blocks are opaque", () => {
  for (const markup of OPAQUE) {
    const read = new Origins().read(markup);
    assert.equal(read.length, 1, markup);
    assert.equal(read[0].type.name, "opaque", markup);
    assert.equal(printBlock(read[0]), markup);
  }
});

test("markup that differs is not the same", () => {
  const equal = [["<p>a  b</p>", "<p>a\nb</p>"], ["<p class=\"a\" id='b'>x</p>", "<p id=b class=a>x</p>"], ["<p>x<br/></p>", "<p>x<br></p>"]];
  const different = [
    ["<p>a b</p>", "<p>ab</p>"], ["<pre>a  b</pre>", "<pre>a b</pre>"], ["<p><b>a</b></p>", "<p><strong>a</strong></p>"],
    ["<p>a</p>", "<p class=\"\">a</p>"], ["<p>a<em></em></p>", "<p>a</p>"], ["<p>a&nbsp;b</p>", "<p>a b</p>"],
    ["<p><code>a</code><code>b</code></p>", "<p><code>ab</code></p>"], ["<p>a <em>b</em></p>", "<p>a<em> b</em></p>"],
    ["<!-- wp:x {\"a\":1} --><p>a</p><!-- /wp:x -->", "<!-- wp:x {\"a\":2} --><p>a</p><!-- /wp:x -->"],
  ];
  for (const [a, b] of equal) assert.ok(same(a, b), `${a} ${b}`);
  for (const [a, b] of different) assert.ok(!same(a, b), `${a} ${b}`);
});

test("pieces follow WordPress's rules for damaged content", () => {
  const names = (content) => split(content).map((piece) => `${piece.name}:${piece.source.length}`);
  assert.deepEqual(names("a<!-- wp:x --><!-- wp:y --></b><!-- /wp:z --><!-- /wp:q -->b"), ["null:1", "core/x:58", "null:1"]);
  assert.deepEqual(names("a<!-- /wp:x -->b<!-- wp:y /-->"), ["null:30"]);
  assert.deepEqual(names("<!-- wp:y /--><!-- wp:x -->b<!-- wp:z /-->"), ["core/y:14", "core/x:28"]);
  assert.deepEqual(names("<!--wp:x--><!-- wp:X /--><!-- wp:x{} /--><!-- wp:x {\"a\":\"}\"} /-->"), ["null:41", "core/x:24"]);
});
