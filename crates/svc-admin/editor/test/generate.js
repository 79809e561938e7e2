// Contents and documents made from a seed.

import { aligned, heading, orderedList, schema } from "../src/model/schema.js";
import { embedAttrs } from "../src/surface/embed.js";
import { buttons, column, newButton } from "../src/surface/layout.js";

const { nodes, marks } = schema;

/** Random numbers that are the same in each run (mulberry32). */
export class Random {
  #state;
  constructor(seed) {
    this.#state = seed;
  }
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(n) {
    return Math.floor(this.next() * n);
  }
  pick(list) {
    return list[this.below(list.length)];
  }
  chance(p) {
    return this.next() < p;
  }
  times(least, most, make) {
    return Array.from({ length: least + this.below(most - least + 1) }, make);
  }
}

const WORDS = ["one", "two", "é 日本", "🎉", "a & b", "<b>", "--", "\"q\"", "it's", "c > d", "[x]", "\\", "nbsp\u00a0x", "&amp;", "—"];

/** A document of blocks that can be edited. */
export function randomDoc(random) {
  return nodes.doc.create(null, random.times(1, 6, () => randomBlock(random, 0)));
}

function randomBlock(random, depth) {
  const kinds = ["paragraph", "paragraph", "heading", "list", "code", "preformatted", "image", "separator", "html", "table", "embed"];
  if (depth < 2) kinds.push("quote", "container", "columns", "buttons", "details", "gallery");
  switch (random.pick(kinds)) {
    case "heading":
      return nodes.heading.create(heading(1 + random.below(6)), inline(random));
    case "list":
      return list(random, 0);
    case "code":
      return nodes.code_block.create(null, plain(random, "\n"));
    case "preformatted":
      return nodes.preformatted.create(null, inline(random));
    case "image":
      return image(random);
    case "embed":
      return nodes.embed.create(embedAttrs("https://vimeo.com/1?a=b&c--d", { name: "vimeo", type: "video" }, random.chance(0.5) ? [16, 9] : null), random.chance(0.5) ? inline(random) : null);
    case "table":
      return table(random);
    case "container":
      return nodes.container.create(null, random.times(1, 3, () => randomBlock(random, depth + 1)));
    case "columns":
      return nodes.frame.create(null, random.times(1, 3, () => column(random.times(1, 2, () => randomBlock(random, depth + 1)))));
    case "buttons":
      return buttons(random.times(1, 3, () => newButton(inline(random).map((node) => (node.isText ? node.mark(node.marks.filter(({ type }) => type !== marks.link)) : node)))));
    case "details":
      return nodes.details.create(null, [nodes.summary.create(null, inline(random)), ...random.times(1, 2, () => randomBlock(random, depth + 1))]);
    case "gallery":
      return nodes.gallery.create(null, [...random.times(1, 3, () => image(random)), nodes.caption.create(null, random.chance(0.3) ? inline(random) : null)]);
    case "separator":
      return nodes.separator.create();
    case "html":
      return nodes.html.create(null, schema.text(random.pick(["<div>x</div>", "<p>a & b", "x\n\ny"])));
    case "quote": {
      const content = random.times(1, 3, () => randomBlock(random, depth + 1));
      if (random.chance(0.5)) content.push(nodes.citation.create(null, inline(random)));
      return nodes.quote.create(null, content);
    }
    default:
      return nodes.paragraph.create(null, inline(random));
  }
}

function image(random) {
  return nodes.image.create({
    json: '{"id":12,"sizeSlug":"large","linkDestination":"none"}',
    html: ' class="wp-block-image size-large"',
    img: ' src="https://example.org/a.jpg?x=1&amp;y=2" alt="An &quot;alt&quot; &amp; more" class="wp-image-12"',
  }, random.chance(0.5) ? inline(random) : null);
}

/** A table with sections, alignment, and cells that extend over others. */
function table(random) {
  const width = 1 + random.below(4);
  const section = (name, least, most) => {
    const rows = [];
    let covered = [];
    const count = least + random.below(most - least + 1);
    for (let n = 0; n < count; n += 1) {
      const cells = [];
      const next = [];
      for (let column = 0; column < width; column += 1) {
        if (covered[column]) continue;
        const rowspan = n + 1 < count && random.chance(0.15) ? 2 : 1;
        const colspan = column + 1 < width && !covered[column + 1] && random.chance(0.15) ? 2 : 1;
        const html = aligned(random.chance(0.2) ? ' id="c" style="color:red"' : "", random.pick(["center", "right", null, null]));
        const type = name === "head" || random.chance(0.1) ? nodes.table_header : nodes.table_cell;
        cells.push(type.create({ rowspan, colspan, html }, random.chance(0.2) ? null : inline(random)));
        for (let over = column; over < column + colspan; over += 1) next[over] = rowspan > 1;
        column += colspan - 1;
      }
      covered = next;
      rows.push(nodes.table_row.create({ section: name }, cells));
    }
    return rows;
  };
  const rows = [...section("head", 0, 2), ...section("body", 1, 3), ...section("foot", 0, 1)];
  return nodes.table.create(null, [nodes.table_grid.create(null, rows), nodes.caption.create(null, random.chance(0.3) ? inline(random) : null)]);
}

function list(random, depth) {
  const items = random.times(1, 3, () => {
    const content = [nodes.paragraph.create(null, inline(random))];
    if (depth < 2 && random.chance(0.3)) content.push(list(random, depth + 1));
    return nodes.list_item.create(null, content);
  });
  return nodes.list.create(random.chance(0.4) ? orderedList(random.chance(0.3) ? "3" : null) : null, items);
}

function plain(random, joint) {
  return schema.text(random.times(1, 4, () => random.pick(WORDS)).join(joint));
}

function inline(random) {
  const simple = [marks.strong.create(), marks.em.create(), marks.strike.create(), marks.code.create(), marks.sub.create()];
  const out = random.times(1, 5, () => {
    if (random.chance(0.1)) return nodes.hard_break.create();
    let set = [];
    for (let n = random.below(3); n > 0; n -= 1) set = random.pick(simple).addToSet(set);
    if (random.chance(0.15)) set = marks.link.create({ href: "https://example.org/?a=1&b=2" }).addToSet(set);
    if (random.chance(0.05)) set = marks.tag.create({ name: "mark", html: ' class="has-inline-color"' }).addToSet(set);
    return schema.text(random.pick(WORDS), set);
  });
  // White space and line breaks at the ends have no meaning.
  while (out.length > 0 && out[0].type === nodes.hard_break) out.shift();
  while (out.length > 0 && out.at(-1).type === nodes.hard_break) out.pop();
  return out.length > 0 ? out : [schema.text("x")];
}

const BLOCKS = [
  "<!-- wp:paragraph -->\n<p>Text &amp; <strong>bold <em>both</em></strong> <a href=\"https://example.org/\">link</a></p>\n<!-- /wp:paragraph -->",
  "<!-- wp:paragraph {\"align\":\"center\",\"x\":1.0} -->\n<p class=\"has-text-align-center\">é 日本</p>\n<!-- /wp:paragraph -->",
  "<!-- wp:heading {\"level\":3} -->\n<h3 class=\"wp-block-heading\">Title</h3>\n<!-- /wp:heading -->",
  "<!-- wp:heading -->\n<h2>Old heading</h2>\n<!-- /wp:heading -->",
  "<!-- wp:list -->\n<ul class=\"wp-block-list\"><!-- wp:list-item -->\n<li>a<!-- wp:list {\"ordered\":true} -->\n<ol class=\"wp-block-list\"><!-- wp:list-item -->\n<li>b</li>\n<!-- /wp:list-item --></ol>\n<!-- /wp:list --></li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->",
  "<!-- wp:list -->\n<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>\n<!-- /wp:list -->",
  "<!-- wp:quote -->\n<blockquote class=\"wp-block-quote\"><p>a</p><cite>b</cite></blockquote>\n<!-- /wp:quote -->",
  "<!-- wp:quote -->\n<blockquote class=\"wp-block-quote\"><!-- wp:paragraph -->\n<p>a</p>\n<!-- /wp:paragraph --></blockquote>\n<!-- /wp:quote -->",
  "<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>a &lt; b &#91;x]\n  y</code></pre>\n<!-- /wp:code -->",
  "<!-- wp:image {\"id\":3} -->\n<figure class=\"wp-block-image\"><img src=\"a.jpg\" alt=\"\" class=\"wp-image-3\" /><figcaption>Caption</figcaption></figure>\n<!-- /wp:image -->",
  "<!-- wp:table {\"x\":[1.0]} -->\n<figure class=\"wp-block-table\" data-y=''><table class=\"has-fixed-layout\"><thead><tr><th>a</th><th data-align=right>b</th></tr></thead>\n<tbody><tr><td colspan='2'>c<br/>d</td></tr></tbody></table><figcaption class=\"wp-element-caption\">e</figcaption></figure>\n<!-- /wp:table -->",
  "<!-- wp:table -->\n<figure class=\"wp-block-table\"><table><tbody><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></tbody></table></figure>\n<!-- /wp:table -->",
  "<!-- wp:separator -->\n<hr class=\"wp-block-separator\" />\n<!-- /wp:separator -->",
  "<!-- wp:html -->\n<div>x<br></div>\n<!-- /wp:html -->",
  "<!-- wp:my/block {\"a\":\"\\u002d\\u002d\\u003e\",\"n\":12345678901234567890} /-->",
  "<!-- wp:group --><div><!-- wp:paragraph --><p>x</p><!-- /wp:paragraph --></div><!-- /wp:group -->",
  "<!-- wp:gallery {\"columns\":2,\"x\":1.0} -->\n<figure class=\"wp-block-gallery has-nested-images\" data-y><!-- wp:image {\"id\":1} -->\n<figure class=\"wp-block-image\"><img src=\"a.jpg\" alt=\"\"/></figure>\n<!-- /wp:image --> <!-- wp:image -->\n<figure><img src=\"b.jpg\"></figure>\n<!-- /wp:image --><figcaption class='c'>a &#8217; <b>b</b></figcaption></figure>\n<!-- /wp:gallery -->",
  "<!-- wp:embed {\"url\":\"https://e.org/\",\"x\":1.0} -->\n<figure class=\"wp-block-embed\" data-y=''><div class=\"wp-block-embed__wrapper\">\nhttps://e.org/?a&amp;b\n</div><figcaption>c <b>d</b></figcaption></figure>\n<!-- /wp:embed -->",
  "<!-- wp:embed --><figure><div>https://e.org/</div></figure><!-- /wp:embed -->",
  "<!-- wp:gallery --><figure class=\"wp-block-gallery\"></figure><!-- /wp:gallery -->",
  "<!-- wp:buttons {\"layout\":{\"type\":\"flex\"}} -->\n<div class=\"wp-block-buttons\"><!-- wp:button {\"x\":[]} -->\n<div class=\"wp-block-button\"><a class=\"wp-block-button__link wp-element-button\" href=\"#\" rel='x'>a <strong>b</strong></a></div>\n<!-- /wp:button -->\n<!-- wp:button --><div class=\"wp-block-button\"><button type=\"button\">c</button></div><!-- /wp:button --></div>\n<!-- /wp:buttons -->",
  "<!-- wp:details {\"summary\":\"s\"} -->\n<details open class=\"wp-block-details\"><summary id=\"s\">a &#38; b</summary><!-- wp:paragraph -->\n<p>c</p>\n<!-- /wp:paragraph --></details>\n<!-- /wp:details -->",
  "<!-- wp:cover {\"dimRatio\":50} -->\n<div class=\"wp-block-cover\"><span aria-hidden=\"true\" class=\"x\"></span><img src=\"a.jpg\" alt/><div class=\"wp-block-cover__inner-container\">\n<!-- wp:heading -->\n<h2>t</h2>\n<!-- /wp:heading -->\n\n\n<!-- wp:my/card {\"n\":1e400} --><section data-z=\"<\"><!-- wp:paragraph --><p>x<br /></p><!-- /wp:paragraph --></section><!-- /wp:my/card --></div></div>\n<!-- /wp:cover -->",
  "<!-- wp:group --><div>text <!-- wp:paragraph --><p>x</p><!-- /wp:paragraph --> more <!-- wp:x/y /--></div><!-- /wp:group -->",
  "<!-- wp:group --><div title=\"<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->\"></div><!-- /wp:group -->",
  "<!-- wp:my/row --><div><!-- wp:my/cell --><p><!-- wp:paragraph --><p>x</p><!-- /wp:paragraph --></p><!-- /wp:my/cell --></div><!-- /wp:my/row -->",
  "<!-- wp:more -->\n<!--more-->\n<!-- /wp:more -->",
  "<p>Text outside of blocks</p>",
  "[gallery ids=\"1,2\"]",
  "plain & <b>text",
  "0",
];
const NOISE = ["<!-- wp:paragraph -->", "<!-- /wp:paragraph -->", "<!-- wp:x {\"a\":1} ", "<!--", "-->", "}", "\r\n", "<p>", "&", "\ud83c"];
const GAPS = ["\n\n", "\n\n", "\n", "", " ", "\n\n\n", "\t\n", "\r\n\r\n"];

const SHELLS = [
  ["<!-- wp:group {\"a\":{\"b\":1.0}} -->\n<div class=\"wp-block-group\">", "</div>\n<!-- /wp:group -->"],
  ["<!-- wp:columns --><div class=\"wp-block-columns\"><!-- wp:column {\"width\":\"33.30%\"} -->\n<div class=\"wp-block-column\" style=\"flex-basis:33.30%\">", "</div>\n<!-- /wp:column -->\n\n\n<!-- wp:column --><div class=\"wp-block-column\"></div><!-- /wp:column --> </div><!-- /wp:columns -->"],
  ["<!-- wp:media-text {\"mediaId\":7} -->\n<div class=\"wp-block-media-text\"><figure class=\"wp-block-media-text__media\"><img src=\"m.jpg\" alt=\"\"/></figure><div class=\"wp-block-media-text__content\">", "</div></div>\n<!-- /wp:media-text -->"],
  ["<!-- wp:my/box /* x */ --><x-box>", "</x-box><!-- /wp:my/box -->"],
  ["<!-- wp:my/box {\"s\":\"\\u003c\"} --><x-box on='1'>\n", "\n\t</x-box><!-- /wp:my/box -->"],
  ["<!-- wp:my/bare -->", "<!-- /wp:my/bare -->"],
];

/** Blocks, some of them within others. */
function blocks(random, depth) {
  let out = "";
  for (let n = random.below(depth === 0 ? 9 : 4); n > 0; n -= 1) {
    if (depth < 4 && random.chance(0.2)) {
      const [open, close] = random.pick(SHELLS);
      out += open + blocks(random, depth + 1) + close + random.pick(GAPS);
    } else {
      out += random.pick(BLOCKS) + random.pick(GAPS);
    }
  }
  return out;
}

/** A content as it may be stored: blocks of all kinds, at times damaged. */
export function randomContent(random) {
  let out = random.pick(["", "", "\n", " "]) + blocks(random, 0);
  if (random.chance(0.3)) {
    const at = random.below(out.length + 1);
    out = out.slice(0, at) + random.pick(NOISE) + out.slice(at + random.below(3));
  }
  return out;
}
