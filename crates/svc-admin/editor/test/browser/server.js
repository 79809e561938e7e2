// A server with the page that the editor is made for, which plays what a real one may answer.

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const asset = (name) => readFileSync(fileURLToPath(new URL(`../../../assets/${name}`, import.meta.url)));
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;").replaceAll("\r", "&#13;");
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: https: http:; connect-src 'self'; form-action 'self'";

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; background: light-dark(#fdfcf9, #171614); color: light-dark(#1d1b18, #ebe7df); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 42rem; margin: 0 auto; padding: 2rem 1.25rem; }
#title { display: block; width: 100%; box-sizing: border-box; border: 0; background: none; color: inherit; font: 700 2.2rem/1.2 Charter, Georgia, serif; resize: none; overflow: hidden; margin: 0 0 1rem; padding: 0; outline: none; }
#content { width: 100%; }
.hidden { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
details { margin-top: 2rem; } .bar { display: flex; gap: 1rem; align-items: baseline; } #save-state { flex: 1; margin: 0; font-size: .9rem; }
`;

/** A picture of one colour. */
export const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

export class Site {
  post = { id: 12, title: "", content: "", excerpt: "", status: "draft" };
  version = 1;
  /** Answers that replace the next ones: numbers are statuses, functions change the site first. */
  next = [];
  nonce = "n1";
  loggedIn = true;
  saves = [];
  uploads = [];
  embeds = [];
  /** Milliseconds that an upload waits before its answer. */
  slow = 0;
  failUploads = 0;

  get etag() {
    return `"${this.version}"`;
  }

  async listen() {
    this.server = createServer((request, response) => this.handle(request, response).catch((error) => response.destroy(error)));
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async handle(request, response) {
    const url = new URL(request.url, "http://localhost");
    const send = (status, type, body, headers = {}) => response.writeHead(status, { "Content-Type": type, ...headers }).end(body);
    const json = (status, body, headers) => send(status, "application/json", JSON.stringify(body), headers);
    if (url.pathname === "/wp-admin/assets/editor.js") return send(200, "text/javascript", gunzipSync(asset("editor.min.js.gz")));
    if (url.pathname === "/wp-admin/assets/editor.css") return send(200, "text/css", asset("editor.css"));
    if (url.pathname === "/page.css") return send(200, "text/css", STYLE);
    if (url.pathname.startsWith("/uploads/")) return send(200, "image/png", PNG);
    if (url.pathname === "/login") return ((this.loggedIn = true), send(200, "text/html", "<!doctype html><title>Logged in</title>"));
    if (url.pathname === "/wp-admin/admin-ajax.php") return send(200, "text/plain", `rest-${this.nonce}`);
    if (url.pathname === "/wp-json/wp/v2/media" && request.method === "GET") return request.headers["x-wp-nonce"] === `rest-${this.nonce}` ? this.list(url, json) : json(403, {});
    if (url.pathname === "/wp-json/wp/v2/media") return this.media(request, json);
    if (url.pathname === "/wp-json/oembed/1.0/proxy") {
      this.embeds.push(url.searchParams.get("url"));
      if (/missing/.test(url.search)) return json(404, { code: "oembed_invalid_url", message: "Not Found" });
      return json(200, { title: "A <b>film</b>", provider_name: "YouTube", author_name: "Ana", type: "video", html: '<iframe width="500" height="375" src="https://www.youtube.com/embed/x"></iframe>' });
    }
    if (url.pathname !== "/wp-admin/post.php") return send(404, "text/plain", "");
    if (request.method === "POST") return this.save(await text(request), json);
    if (!this.loggedIn) return send(200, "text/html", "<!doctype html><title>Log in</title><form></form>");
    return send(200, "text/html; charset=utf-8", this.page(), { "Content-Security-Policy": CSP, "Cache-Control": "no-store" });
  }

  /** The site's media, in pages as the REST API has them. */
  library = Array.from({ length: 30 }, (_, n) => ({ id: 500 + n, title: { rendered: `Harbour ${n}` }, alt_text: n === 0 ? "Boats & \"nets\"" : "", source_url: `/uploads/${500 + n}.png`, media_details: { sizes: {} } }));

  list(url, json) {
    const { searchParams: query } = url;
    const found = this.library.filter(({ title }) => title.rendered.toLowerCase().includes((query.get("search") ?? "").toLowerCase()));
    const size = Number(query.get("per_page"));
    const page = Number(query.get("page"));
    return json(200, found.slice((page - 1) * size, page * size), { "X-WP-TotalPages": String(Math.ceil(found.length / size)) });
  }

  async media(request, json) {
    let size = 0;
    for await (const part of request) size += part.length;
    this.uploads.push({ size, headers: request.headers });
    const id = 100 + this.uploads.length;
    if (this.slow) await new Promise((resolve) => setTimeout(resolve, this.slow));
    if (request.headers["x-wp-nonce"] !== `rest-${this.nonce}`) return json(403, { code: "rest_cookie_invalid_nonce", message: "Cookie check failed" });
    if (this.failUploads > 0) return ((this.failUploads -= 1), json(500, { message: "The disk is full." }));
    return json(201, { id, source_url: `/uploads/${id}.png`, alt_text: "", media_details: { sizes: { large: { source_url: `/uploads/${id}-large.png` } } } });
  }

  save(body, json) {
    const form = new URLSearchParams(body);
    const next = this.next.shift();
    if (typeof next === "function") next(this);
    else if (next) return json(next, { message: `Status ${next}.` });
    if (!this.loggedIn) return json(401, { message: "You are logged out. Your text is kept in this browser.", login: "/login" });
    if (form.get("_wpnonce") !== this.nonce) return json(403, { message: "The page is too old." });
    if (form.get("slug") === "taken") return json(400, { message: "Another post has this slug.", field: "slug" });
    if (form.get("etag") !== this.etag) return json(412, { message: "Somebody else changed this post.", current: { ...this.post, etag: this.etag, modified: "2026-11-26T10:30:00", author: "Ana" } });
    const action = form.get("action");
    this.saves.push({ action, content: form.get("content"), title: form.get("title") });
    if (action !== "autosave") {
      Object.assign(this.post, { title: form.get("title"), content: form.get("content"), excerpt: form.get("excerpt") });
      if (action === "publish") this.post.status = "publish";
      this.version += 1;
    }
    const message = { autosave: "Draft kept.", save: "Draft saved.", publish: "Published." }[action];
    return json(200, { id: 12, status: this.post.status, etag: this.etag, modified: "2026-11-26T10:31:00", nonce: this.nonce, link: "/a-post/", edit: "/wp-admin/post.php?post=12&action=edit", message });
  }

  /** What somebody else saves. */
  change(change) {
    Object.assign(this.post, change);
    this.version += 1;
  }

  page() {
    const { post } = this;
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Edit post</title>
<link rel="stylesheet" href="/page.css"><link rel="stylesheet" href="/wp-admin/assets/editor.css"></head><body><main><h1 class="hidden">Edit post</h1>
<form id="post-form" method="post" action="/wp-admin/post.php" data-rest="/wp-json/wp/v2/" data-rest-nonce="rest-${this.nonce}" data-nonce-header="X-WP-Nonce" data-nonce-url="/wp-admin/admin-ajax.php?action=rest-nonce" data-key="post-12" data-modified="2026-11-26T10:00:00" data-max-upload="1000000">
<div class="bar"><p id="save-state" role="status" aria-live="polite"></p><button name="action" value="save">Save draft</button> <button name="action" value="publish">Publish</button></div>
<input type="hidden" name="_wpnonce" value="${this.nonce}"><input type="hidden" name="post" value="12"><input type="hidden" name="etag" value="${escape(this.etag)}">
<textarea name="title" id="title" rows="1" aria-label="Title" placeholder="Title">\n${escape(post.title)}</textarea>
<textarea name="content" id="content" data-editor aria-label="Content">\n${escape(post.content)}</textarea>
<details><summary>Details</summary><p><label>Slug <input name="slug"></label></p><p><label>Excerpt <textarea name="excerpt">\n${escape(post.excerpt)}</textarea></label></p>
<p><label><input type="checkbox" name="categories[]" value="1"> News</label> <label><input type="checkbox" name="categories[]" value="2" checked> Notes</label></p></details>
</form></main><script src="/wp-admin/assets/editor.js" defer></script></body></html>`;
  }
}

async function text(request) {
  let out = "";
  request.setEncoding("utf8");
  for await (const part of request) out += part;
  return out;
}
