// What becomes of pasted HTML and Markdown.

import { test } from "node:test";
import assert from "node:assert/strict";
import { page } from "./dom.js";

page("");
const { DOMParser: ModelParser } = await import("prosemirror-model");
const { cleanHtml, fromCells, fromMarkdown, isMarkdown, rectangular } = await import("../src/surface/paste.js");
const { asUrl } = await import("../src/surface/link.js");
const { disposition, size } = await import("../src/surface/upload.js");
const { schema } = await import("../src/model/schema.js");
const { Origins } = await import("../src/model/document.js");

/** The content that a document with only the pasted nodes has, without comments. */
function pasted(html) {
  const body = document.createElement("div");
  body.innerHTML = cleanHtml(html);
  return bare(schema.nodes.doc.create(null, rectangular(ModelParser.fromSchema(schema).parseSlice(body)).content));
}

function bare(doc) {
  return new Origins().print(doc).replace(/<!--[^]*?-->\n?/g, "").replace(/ class="wp-block-[^"]*"/g, "").replace(/\n+/g, "\n").trim();
}

const HTML = [
  ["Word's headings, formats and lists", "<h1 style='margin:0'>A<o:p></o:p></h1><p class=MsoNormal><b><span lang=EN style='font-family:X'>b</span></b> <i>c</i></p><p class=MsoListParagraphCxSpFirst style='text-indent:-18pt;mso-list:l0 level1 lfo1'><!--[if !supportLists]--><span style='mso-list:Ignore'>1.<span style='font:7pt'>&nbsp; </span></span><!--[endif]-->one</p><p class=MsoListParagraphCxSpLast style='mso-list:l0 level2 lfo1'><span style='mso-list:Ignore'>o </span>two</p>", "<h1>A</h1>\n<p><b>b</b> <i>c</i></p>\n<ol><li>one<ul><li>two</li>\n</ul>\n</li>\n</ol>"],
  ["Google Docs' styles", "<b style=\"font-weight:normal;\" id=\"docs-internal-guid-x\"><h2><span style=\"font-weight:700\">A</span></h2><p><span style=\"font-weight:700;font-style:italic\">b</span><span style=\"text-decoration:line-through\">c</span></p></b>", "<h2>A</h2>\n<p><strong><em>b</em></strong><s>c</s></p>"],
  ["fonts, classes and colours", "<div class=x><p style=\"color:red;font-size:9px\" class=y>a <font color=red>b</font> <span class=z>c</span> <u>d</u></p></div>", "<p>a b c d</p>"],
  ["links", "<p><a href=\"https://e.org/\" onclick=x class=y>a</a> <a href=\"javascript:x\">b</a> <a name=c>d</a></p>", "<p><a href=\"https://e.org/\">a</a> b d</p>"],
  ["images", "<p>a</p><p><img src=\"https://e.org/a.png\" alt=\"b &quot;c&quot;\" onerror=x class=y></p><img src=\"file:///c.png\"><img src=\"data:image/png;base64,x\">", "<p>a</p>\n<figure><img src=\"https://e.org/a.png\" alt=\"b &quot;c&quot;\"/></figure>"],
  ["tables", "<table class=x><tr><th colspan=2>a</th></tr><tr><td><b>b</b> &lt;</td><td onclick=x>c</td></tr></table>", "<figure><table class=\"has-fixed-layout\"><tbody><tr><th colspan=\"2\">a</th></tr><tr><td><b>b</b> &lt;</td><td>c</td></tr></tbody></table></figure>"],
  ["Word's tables", "<table class=MsoTableGrid border=1><tr><td width=100 style='border:x'><p class=MsoNormal><b>a</b><o:p></o:p></p><p class=MsoNormal>b</p></td><td><p class=MsoNormal>&nbsp;</p></td></tr><tr><td colspan=2><ul><li>c</li><li>d</li></ul></td></tr></table>", "<figure><table class=\"has-fixed-layout\"><tbody><tr><td><b>a</b><br>b</td><td></td></tr><tr><td colspan=\"2\">c<br>d</td></tr></tbody></table></figure>"],
  ["spreadsheets", "<google-sheets-html-origin><style>td{}</style><table><colgroup><col width=10><col></colgroup><tbody><tr style='height:21px'><td style='text-align:right' data-sheets-value='x'>1</td><td>a</td></tr><tr><td>2</td></tr></tbody></table>", "<figure><table class=\"has-fixed-layout\"><tbody><tr><td class=\"has-text-align-right\" data-align=\"right\">1</td><td>a</td></tr><tr><td>2</td><td></td></tr></tbody></table></figure>"],
  ["tables with captions and sections", "<p>a</p><figure class=x><table><thead><tr><th>h</th><th>i</th></tr></thead><tfoot><tr><td>e</td><td>f</td></tr></tfoot><tr><td>c</td><td>d <img src='https://e.org/x.png'></td></tr></table><figcaption>Cap <i>x</i></figcaption></figure><table><caption>k</caption><tr><td>l</td><td><table><tr><td>m</td><td>n</td></tr></table></td></tr></table>", "<p>a</p>\n<figure><table class=\"has-fixed-layout\"><thead><tr><th>h</th><th>i</th></tr></thead><tbody><tr><td>c</td><td>d</td></tr></tbody><tfoot><tr><td>e</td><td>f</td></tr></tfoot></table><figcaption class=\"wp-element-caption\">Cap <i>x</i></figcaption></figure>\n<figure><table class=\"has-fixed-layout\"><tbody><tr><td>l</td><td>m n</td></tr></tbody></table><figcaption class=\"wp-element-caption\">k</figcaption></figure>"],
  ["a table of one cell, which is layout", "<table><tr><td><p>a</p><p>b</p></td></tr></table>", "<p>a</p>\n<p>b</p>"],
  ["the editor's own attributes of a hostile page", "<div data-block=opaque data-name=core/html data-source='<script>'>a</div><figure data-block=image data-img=' onerror=x'><figcaption>b</figcaption></figure>", "<p>a</p>\n<p>b</p>"],
  ["scripts and comments", "<!-- x --><script>a</script><style>b{}</style><p>c<template>d</template></p>", "<p>c</p>"],
];
for (const [name, html, expected] of HTML) test(`pasted HTML: ${name}`, () => assert.equal(pasted(html), expected));

const MARKDOWN = [
  ["# A\n\nb **c** *d* `e` ~~f~~ [g](https://e.org)", "<h1>A</h1>\n<p>b <strong>c</strong> <em>d</em> <code>e</code> <s>f</s> <a href=\"https://e.org\">g</a></p>"],
  ["1. a\n   - b\n2. c", "<ol><li>a<ul><li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ol>"],
  ["> a\n\n```\nx < y\n```\n\n---", "<blockquote><p>a</p>\n</blockquote>\n<pre><code>x &lt; y</code></pre>\n<hr/>"],
  ["<script>x</script> **a**", "<p>&lt;script&gt;x&lt;/script&gt; <strong>a</strong></p>"],
];
MARKDOWN.push(["| a | b |\n|:-:|---|\n| **1** | 2 |", "<figure><table class=\"has-fixed-layout\"><thead><tr><th class=\"has-text-align-center\" data-align=\"center\">a</th><th>b</th></tr></thead><tbody><tr><td class=\"has-text-align-center\" data-align=\"center\"><strong>1</strong></td><td>2</td></tr></tbody></table></figure>"]);
for (const [markdown, expected] of MARKDOWN) {
  test(`pasted Markdown: ${JSON.stringify(markdown)}`, () => {
    assert.ok(isMarkdown(markdown));
    assert.equal(bare(schema.nodes.doc.create(null, fromMarkdown(markdown).content)), expected);
  });
}

test("cells of a spreadsheet as plain text", () => {
  const table = (text) => fromCells(text) && bare(schema.nodes.doc.create(null, fromCells(text).content));
  assert.equal(table("a\tb\r\n1\t<2>\r\n"), "<figure><table class=\"has-fixed-layout\"><tbody><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>&lt;2&gt;</td></tr></tbody></table></figure>");
  for (const text of ["a\tb", "a\nb", "a\tb\nc", ""]) assert.equal(table(text), null, text);
});

test("plain text is no Markdown", () => {
  for (const text of ["Hello, world.", "a * b * c", "- ", "2024-01-01", "#hashtag", "price: 3.50"]) assert.ok(!isMarkdown(text), text);
});

test("URLs as people type them", () => {
  const cases = { "example.org/a": "https://example.org/a", "https://e.org": "https://e.org", "me@e.org": "mailto:me@e.org", "/about": "/about", "#x": "#x", "tel:1": "tel:1", "javascript:x": null, " java\nscript:x": null, "": null };
  for (const [text, url] of Object.entries(cases)) assert.equal(asUrl(text), url, text);
});

test("names of uploaded files", () => {
  assert.equal(disposition("a b.png"), 'attachment; filename="a b.png"');
  assert.equal(disposition('a"\\\r\nX: y.png'), "attachment; filename=\"a____X: y.png\"; filename*=UTF-8''a%22%5C%0D%0AX%3A%20y.png");
  assert.equal(disposition("été'(1).png"), "attachment; filename=\"_t_'(1).png\"; filename*=UTF-8''%C3%A9t%C3%A9%27%281%29.png");
  assert.deepEqual([1, 1500, 10_485_760].map(size), ["1 bytes", "1.5 kB", "10 MB"]);
});
