// What becomes of classic content.

import { test } from "node:test";
import assert from "node:assert/strict";
import { decode } from "../src/blocks/entities.js";
import { corpus } from "./corpus.js";
import { Random } from "./generate.js";
import { Origins } from "../src/model/document.js";
import { schema } from "../src/model/schema.js";
import { convert } from "../src/surface/classic.js";

const print = (blocks) => new Origins().print(schema.nodes.doc.create(null, blocks));
const p = (text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
const list = (...items) => `<!-- wp:list -->\n<ul class="wp-block-list">${items.map((item) => `<!-- wp:list-item -->\n<li>${item}</li>\n<!-- /wp:list-item -->`).join("\n\n")}</ul>\n<!-- /wp:list -->`;

const CASES = [
  ["paragraphs between blank lines, and line breaks", "One & two\nthree <b>four</b>\n\n\n  Five<br />\nsix", [p("One &amp; two<br>three <b>four</b>"), p("Five<br>six")]],
  ["paragraphs as elements", "<p>a</p>\n<p style=\"text-align: center;\">b</p><p align=right>c</p>", [p("a"), '<!-- wp:paragraph {"align":"center"} -->\n<p class="has-text-align-center">b</p>\n<!-- /wp:paragraph -->', '<!-- wp:paragraph {"align":"right"} -->\n<p class="has-text-align-right">c</p>\n<!-- /wp:paragraph -->']],
  ["headings", "<h2>a</h2>\ntext\n<h3 id=\"x\">b <em>c</em></h3>", ['<!-- wp:heading -->\n<h2 class="wp-block-heading">a</h2>\n<!-- /wp:heading -->', p("text"), '<!-- wp:heading {"level":3} -->\n<h3 class="wp-block-heading" id="x">b <em>c</em></h3>\n<!-- /wp:heading -->']],
  ["lists", "Intro:\n<ul>\n \t<li>a</li>\n \t<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>", [p("Intro:"), list("a", `b${list("c")}`)]],
  ["numbered lists", "<ol start=\"3\"><li>a</li></ol>", ['<!-- wp:list {"ordered":true,"start":3} -->\n<ol start="3" class="wp-block-list"><!-- wp:list-item -->\n<li>a</li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list -->']],
  ["quotes", "<blockquote>a\n\nb</blockquote>", [`<!-- wp:quote -->\n<blockquote class="wp-block-quote">${p("a")}\n\n${p("b")}</blockquote>\n<!-- /wp:quote -->`]],
  ["pictures", "<img class=\"alignleft size-medium wp-image-12\" src=\"a.jpg\" alt=\"x\" width=\"300\" height=\"200\" />Text\n\n<a href=\"a.png\"><img class=\"alignnone wp-image-13\" src=\"b.jpg\" alt=\"\" /></a>\n\nin <img src=\"c.png\" alt=\"\" /> text", [
    '<!-- wp:image {"id":12,"align":"left"} -->\n<figure class="wp-block-image alignleft"><img src="a.jpg" alt="x" class="wp-image-12"/></figure>\n<!-- /wp:image -->', p("Text"),
    '<!-- wp:image {"id":13,"linkDestination":"custom"} -->\n<figure class="wp-block-image"><a href="a.png"><img src="b.jpg" alt="" class="wp-image-13"/></a></figure>\n<!-- /wp:image -->',
    p('in <img src="c.png" alt=""/> text'),
  ]],
  ["tables", "<table border=1 style=\"width:100%\"><tbody><tr><td width=5>a\nb</td><td>c</td></tr>\n<tr><td colspan=2><b>d</b></td></tr></tbody></table>", ['<!-- wp:table -->\n<figure class="wp-block-table"><table class="has-fixed-layout"><tbody><tr><td>a<br>b</td><td>c</td></tr><tr><td colspan="2"><b>d</b></td></tr></tbody></table></figure>\n<!-- /wp:table -->']],
  ["code and preformatted text", "<pre>\na\n\n  <b>b</b></pre>\n<pre><code>x &lt; y\n</code></pre>", ['<!-- wp:preformatted -->\n<pre class="wp-block-preformatted">a\n\n  <b>b</b></pre>\n<!-- /wp:preformatted -->', '<!-- wp:code -->\n<pre class="wp-block-code"><code>x &lt; y</code></pre>\n<!-- /wp:code -->']],
  ["separators, breaks and shortcodes on their own", "a\n<!--more-->\nb\n<hr />\n[gallery ids=\"1,2\"]\n\n<!--nextpage-->c", [p("a"), "<!-- wp:more -->\n<!--more-->\n<!-- /wp:more -->", p("b"), '<!-- wp:separator -->\n<hr class="wp-block-separator has-alpha-channel-opacity"/>\n<!-- /wp:separator -->', '<!-- wp:shortcode -->\n[gallery ids="1,2"]\n<!-- /wp:shortcode -->', "<!-- wp:nextpage -->\n<!--nextpage-->\n<!-- /wp:nextpage -->", p("c")]],
];
for (const [name, source, expected] of CASES) test(`classic content: ${name}`, () => assert.equal(print(convert(source) ?? []), expected.join("\n\n")));

test("classic content with anything else stays as it is", () => {
  for (const source of [
    "", " \n ", "<div>a</div>", "<iframe src=\"x\"></iframe>", "a [caption]b[/caption]", "text [code] text", "<em>a\n\nb</em>", "<p class=\"x\">a</p>", "<p>a", "a <b>b", "<script>x</script>",
    "<!-- note -->a", "<ul class=\"x\"><li>a</li></ul>", "<ul><li><p>a</p></li></ul>", "<ul>a<li>b</li></ul>", "<li>a</li>", "<dl><dt>a</dt></dl>", "<table><tr><td><p>a</p></td></tr></table>", "<h2 class=\"x\">a</h2>", "<form>a</form>",
    "<p><img src=\"a\" onclick=\"x\"></p>", "a &unknown; b", "<blockquote cite=\"x\">a</blockquote>", "<pre class=\"x\">a</pre>", "<p>a<div>b</div></p>",
  ]) assert.equal(convert(source), null, source);
});

const words = (text) => decode(text.replace(/<!--[^]*?-->/g, " ").replace(/<[^>]*>/g, " ")).replace(/\s+/g, "");

test("converted content has the same words, and can be edited", () => {
  const random = new Random(5);
  const parts = ["word ", "a<br />b", "<b>bold</b> ", "\n", "\n\n", "<p>para\ngraph</p>", "<ul><li>item</li></ul>", "<h3>head</h3>", "<blockquote>quote</blockquote>", "<table><tr><td>c</td><th>d</th></tr></table>", "<hr>", "&#8217;", "<i>x</i>", "<img src=\"a.png\">", "<div>box</div>", "[x]", "<!--more-->"];
  let converted = 0;
  const sources = Array.from({ length: 3000 }, () => random.times(1, 8, () => random.pick(parts)).join(""));
  for (const source of [...sources, ...corpus().filter((text) => !text.includes("<!-- wp:"))]) {
    const blocks = convert(source);
    if (!blocks) continue;
    converted += 1;
    const doc = schema.nodes.doc.create(null, blocks);
    doc.check();
    const out = print(blocks);
    assert.equal(words(out), words(source), source);
    const again = new Origins().open(out);
    assert.ok(again.children.every((node) => node.type.name !== "opaque" || /^core\/(?:more|nextpage|shortcode)$/.test(node.attrs.name)), out);
  }
  assert.ok(converted > 1500, `${converted} converted`);
});

test("classic texts that are made to be slow do not hang the page", { timeout: 60_000 }, () => {
  for (const source of ["\n ".repeat(200_000), "<b>".repeat(20_000), "<ul><li>".repeat(2_000) + "x" + "</li></ul>".repeat(2_000), "<blockquote>".repeat(2_000) + "x" + "</blockquote>".repeat(2_000), "[a ".repeat(100_000), "<b>x</b>".repeat(30_000), `${"a".padEnd(50_000)}\n`.repeat(4)]) convert(source);
});
