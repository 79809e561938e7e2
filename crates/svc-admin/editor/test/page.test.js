// The page's form with the editor, in a DOM without layout.

import { test } from "node:test";
import assert from "node:assert/strict";
import { page } from "./dom.js";
import { FakeServer, settle } from "./world.js";

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("\r", "&#13;");

/** Opens a page whose server is a fake one. */
async function open(content, { site = new FakeServer(), storage = [] } = {}) {
  site.post.content = content;
  const dom = page(`
    <form id="post-form" method="post" action="/wp-admin/post.php" data-rest="/wp-json/wp/v2/" data-rest-nonce="r" data-nonce-header="X-WP-Nonce"
      data-nonce-url="/nonce" data-key="post-new" data-modified="2026-11-26T10:00:00" data-max-upload="100">
      <input type="hidden" name="_wpnonce" value="${site.nonce}"><input type="hidden" name="post" value=""><input type="hidden" name="etag" value="${escape(site.etag)}">
      <textarea name="title" id="title" rows="1"></textarea>
      <label for="content">Content</label><textarea name="content" id="content" data-editor>\n${escape(content)}</textarea>
      <input name="slug" aria-describedby="help"><p id="help">Help</p>
      <input type="checkbox" name="categories[]" value="1"><input type="checkbox" name="categories[]" value="2" checked>
      <select name="status"><option value="draft" selected>Draft</option><option value="pending">Pending</option></select>
      <input type="password" name="post_password" value="">
      <p id="save-state" role="status"></p>
      <button name="action" value="save">Save</button><button name="action" value="publish">Publish</button>
    </form>`);
  for (const [key, value] of storage) dom.window.localStorage.setItem(key, value);
  const sent = [];
  dom.window.fetch = async (url, options = {}) => {
    if (options.body) sent.push({ url, fields: new URLSearchParams(String(options.body)) });
    return site.fetch(url, { ...options, body: String(options.body ?? "") });
  };
  const { start } = await import("../src/page.js");
  const form = dom.window.document.getElementById("post-form");
  start(form);
  const state = () => dom.window.document.getElementById("save-state").textContent;
  const click = async (value) => {
    form.querySelector(`button[value=${value}]`).click();
    await settle();
  };
  return { dom, form, site, sent, state, click, document: dom.window.document };
}

test("an unchanged content is sent byte for byte, with line ends of all kinds", async () => {
  for (const content of ["", "\n", "\n\n<p>a</p>\r\n", "<!-- wp:paragraph -->\r\n<p>a</p>\r\n<!-- /wp:paragraph -->\n", "a\rb & <b>"]) {
    const { sent, click, document, state } = await open(content);
    assert.equal(document.documentElement.dataset.editor, "ready");
    await click("save");
    assert.equal(sent[0].fields.get("content"), content);
    assert.equal(sent[0].url, "/wp-admin/post.php");
    assert.deepEqual(sent[0].fields.getAll("categories[]"), ["2"]);
    assert.equal(sent[0].fields.get("action"), "save");
    assert.equal(state(), "Draft saved.");
  }
});

test("after a save the form has the id, the tag and the nonce", async () => {
  const { form, click, dom } = await open("x");
  let detail = null;
  form.addEventListener("editor:saved", (event) => (detail = event.detail));
  await click("publish");
  assert.equal(form.elements.namedItem("post").value, "12");
  assert.equal(form.elements.namedItem("etag").value, '"2"');
  assert.equal(form.dataset.key, "post-12");
  assert.equal(detail.isAutosave, false);
  assert.equal(dom.window.localStorage.length, 0);
});

test("an error is described at its field, which has the focus, until the next save", async () => {
  const { form, click, document, state } = await open("x");
  const slug = form.elements.namedItem("slug");
  slug.value = "taken";
  await click("save");
  assert.equal(document.activeElement, slug);
  assert.equal(slug.getAttribute("aria-describedby"), "help error-slug");
  assert.equal(slug.getAttribute("aria-invalid"), "true");
  assert.equal(document.getElementById("error-slug").textContent, "Taken.");
  assert.match(state(), /Not saved/);
  slug.value = "";
  await click("save");
  assert.equal(document.getElementById("error-slug"), null);
  assert.equal(slug.getAttribute("aria-describedby"), "help");
  assert.equal(slug.hasAttribute("aria-invalid"), false);
});

test("a copy of the browser is offered and restored with all fields, but never passwords", async () => {
  const fields = [["title", "T"], ["content", "<!-- wp:x /-->"], ["slug", "s"], ["categories[]", "1"], ["status", "pending"]];
  const storage = [["editor-copy:post-new:a", JSON.stringify({ time: Date.now(), etag: '"1"', fields })], ["editor-copy:post-7:a", "{}"]];
  const { form, click, document, sent, dom } = await open("x", { storage });
  const bar = document.querySelector(".editor-recover");
  assert.match(bar.textContent, /newer version from .*Restore.*Discard/);
  bar.querySelector("button").click();
  assert.equal(form.elements.namedItem("status").value, "pending");
  form.elements.namedItem("post_password").value = "secret";
  form.elements.namedItem("slug").dispatchEvent(new dom.window.Event("input", { bubbles: true }));
  dom.window.dispatchEvent(new dom.window.Event("pagehide"));
  assert.ok(Object.keys(dom.window.localStorage).some((key) => dom.window.localStorage.getItem(key).includes("wp:x")));
  assert.ok(Object.keys(dom.window.localStorage).every((key) => !dom.window.localStorage.getItem(key).includes("secret")));
  await click("save");
  assert.deepEqual(["title", "content", "slug", "post_password"].map((name) => sent[0].fields.get(name)), ["T", "<!-- wp:x /-->", "s", "secret"]);
  assert.deepEqual(sent[0].fields.getAll("categories[]"), ["1"]);
  assert.deepEqual(Object.keys(dom.window.localStorage), ["editor-copy:post-7:a"]);
});

test("only one dialog compares two versions", async () => {
  const { site, click, document, dom } = await open("<!-- wp:paragraph -->\n<p>Mine</p>\n<!-- /wp:paragraph -->");
  const change = (text) => {
    site.post.content = `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
    site.version += 1;
  };
  const dialogs = () => [...document.querySelectorAll("dialog.editor-conflict")];
  change("Theirs");
  await click("save");
  assert.equal(dialogs().length, 1);
  // The keyboard saves nothing behind it.
  document.dispatchEvent(new dom.window.KeyboardEvent("keydown", { key: "s", ctrlKey: true, bubbles: true, cancelable: true }));
  await settle();
  assert.equal(dialogs().length, 1);
  // A newer version replaces the one that is shown.
  change("Newer");
  await click("save");
  assert.equal(dialogs().length, 1);
  assert.match(dialogs()[0].textContent, /Save these choices/);
});

test("a conflict shows each difference and saves the choices with the new tag", async () => {
  const p = (text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`;
  const site = new FakeServer();
  const { form, click, document, state } = await open([p("one"), p("two")].join("\n\n"), { site });
  Object.assign(site, { version: 2, post: { title: "", content: [p("one"), p("two <img src=x onerror=alert(1)>")].join("\n\n") } });
  form.elements.namedItem("title").value = "Mine";
  await click("save");
  const dialog = document.querySelector("dialog");
  const groups = [...dialog.querySelectorAll("fieldset")];
  assert.deepEqual(groups.map((group) => group.querySelector("input:checked").value), ["mine", "theirs"]);
  groups[1].querySelector("input[value=both]").checked = true;
  dialog.querySelector("button.primary").click();
  await settle();
  assert.equal(state(), "Draft saved.");
  assert.equal(site.post.title, "Mine");
  assert.equal(site.post.content, [p("one"), p("two"), p("two <img src=x onerror=alert(1)>")].join("\n\n"));
});

test("hostile markup shows nothing that acts", async () => {
  page("");
  const { preview, sanitize } = await import("../src/surface/preview.js");
  const hostile = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)><script>alert(1)</script></svg>", "<iframe src=javascript:alert(1)></iframe>",
    "<a href=\"javascript:alert(1)\">x</a>", "<a href=\"&#106;avascript:alert(1)\">x</a>", "<a href=\" java\nscript:alert(1)\">x</a>", "<form action=/x><input formaction=javascript:alert(1)></form>",
    "<object data=x></object><embed src=x><base href=//x><meta http-equiv=refresh content=0><link rel=stylesheet href=x>", "<math><a xlink:href=javascript:alert(1)>x</a></math>",
    "<svg><a xlink:href=\"javascript:alert(1)\"><text>x</text></a></svg>", "<img/onerror=alert(1)/src=x>", "<div style=\"background:url(javascript:alert(1))\" ONCLICK=alert(1)>x</div>",
    "<template><script>alert(1)</script></template>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>", "<video autoplay src=x onplay=alert(1)></video>",
    "<svg><animate attributeName=href values=javascript:alert(1) /></svg>", "<p title='>' onmouseover='alert(1)'>x</p>", "<a href='data:text/html,<script>alert(1)</script>'>x</a>", "<style>*{}</style><body onload=alert(1)>x",
  ];
  for (const html of hostile) {
    for (const host of [sanitize(html), preview("core/group", `<p>x</p>${html}`).shadowRoot]) {
      for (const element of host.querySelectorAll("*")) {
        assert.doesNotMatch(element.tagName, /^(script|iframe|object|embed|form|base|meta|link|style|template|animate)$/i, html);
        for (const { name, value } of element.attributes) {
          assert.doesNotMatch(name, /^on/i, html);
          if (name !== "style" && name !== "title") assert.doesNotMatch(value.replace(/\s/g, ""), /javascript:|data:text/i, html);
        }
      }
    }
  }
});
