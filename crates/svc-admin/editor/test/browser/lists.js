// Measures the pages of the admin on a large site, without a browser:
//
//     node test/browser/lists.js PROGRAM [POSTS]
//
// PROGRAM is svc-server. The site has a comment and a tag per ten posts, and half of the posts in one category. Each page is requested
// a hundred times, one request after the other, once the search index has all posts. Prints median and 99th percentile in ms, and the bytes of the page without compression.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";

const [program, count = "100000"] = process.argv.slice(2);
const N_REQUESTS = 100;
/** What a page may have, in bytes. */
const MOST_BYTES = 60_000;

const data = mkdtempSync(join(tmpdir(), "lists-"));
const run = (...args) => execFileSync(program, ["--data", data, "--log", "error", ...args], { encoding: "utf8", stdio: ["pipe", "pipe", "inherit"], maxBuffer: 1 << 26 });

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Writes a WordPress export with so many posts. */
async function writeExport(path, n) {
  const file = createWriteStream(path);
  const write = async (text) => file.write(text) || (await once(file, "drain"));
  await write('<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/"><channel><title>Large</title><wp:wxr_version>1.2</wp:wxr_version>');
  const statuses = ["publish", "publish", "publish", "publish", "draft"];
  for (let i = 1; i <= n; i += 1) {
    const date = new Date(1.2e12 + i * 3.6e6).toISOString().slice(0, 19).replace("T", " ");
    const words = `Word ${i % 997} of post number ${i}`;
    const comment = i % 10 ? "" : `<wp:comment><wp:comment_id>${i}</wp:comment_id><wp:comment_author>Reader ${i % 50}</wp:comment_author><wp:comment_author_email>r${i % 50}@example.org</wp:comment_author_email><wp:comment_date>${date}</wp:comment_date><wp:comment_date_gmt>${date}</wp:comment_date_gmt><wp:comment_content>A comment on ${i}</wp:comment_content><wp:comment_approved>${i % 100 ? 1 : 0}</wp:comment_approved></wp:comment>`;
    await write(`<item><title>${words}</title><dc:creator>admin</dc:creator><content:encoded><![CDATA[<!-- wp:paragraph -->\n<p>${words}. ${"Some text. ".repeat(20)}</p>\n<!-- /wp:paragraph -->]]></content:encoded><wp:post_id>${i + 100}</wp:post_id><wp:post_date>${date}</wp:post_date><wp:post_date_gmt>${date}</wp:post_date_gmt><wp:comment_status>open</wp:comment_status><wp:ping_status>closed</wp:ping_status><wp:post_name>post-${i}</wp:post_name><wp:status>${statuses[i % 5]}</wp:status><wp:post_parent>0</wp:post_parent><wp:menu_order>0</wp:menu_order><wp:post_type>post</wp:post_type><category domain="category" nicename="${i % 2 ? "half" : `c${i % 100}`}"><![CDATA[${i % 2 ? "Half" : `Category ${i % 100}`}]]></category>${i % 10 ? "" : `<category domain="post_tag" nicename="t${i % 500}"><![CDATA[Tag ${i % 500}]]></category>`}${comment}</item>\n`);
  }
  file.end("</channel></rss>");
  await once(file, "finish");
}

const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const monitoring = `127.0.0.1:${await freePort()}`;
const env = { ...process.env, SVC_MONITORING_LISTEN: monitoring };
const server = spawn(program, ["--data", data, "--listen", `127.0.0.1:${port}`, "--log", "error"], { stdio: "ignore", env });
try {
  for (let n = 0; n < 600 && !(await fetch(`${origin}/readyz`).then((response) => response.ok, () => false)); n += 1) {
    await new Promise((done) => setTimeout(done, 100));
  }
  const password = run("user", "create", "measure", "measure@example.org", "--role", "administrator").trim().split(": ").at(-1);
  const wxr = join(data, "large.xml");
  await writeExport(wxr, Number(count));
  const begun = Date.now();
  run("import", wxr);
  console.log(`# ${count} posts imported in ${((Date.now() - begun) / 1000).toFixed(0)} s`);
  const indexed = async () => {
    const metrics = await (await fetch(`http://${monitoring}/metrics`)).text();
    return Number(metrics.match(/^svc_search_index_posts (\d+)/m)?.[1] ?? 0);
  };
  while ((await indexed()) < Number(count)) {
    await new Promise((done) => setTimeout(done, 200));
  }
  console.log(`# and in the search index after ${((Date.now() - begun) / 1000).toFixed(0)} s`);
  const body = new URLSearchParams({ log: "measure", pwd: password });
  const login = await fetch(`${origin}/wp-login.php`, { method: "POST", body, redirect: "manual" });
  assert.equal(login.status, 302);
  const headers = { Cookie: login.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ") };
  const get = async (path) => {
    const start = performance.now();
    const response = await fetch(`${origin}/wp-admin/${path}`, { headers });
    const text = await response.text();
    const took = performance.now() - start;
    assert.equal(response.status, 200, path);
    return { took, text };
  };
  const half = (await get("edit.php")).text.match(/<option value="(\d+)">Half</)?.[1] ?? "1";
  const pages = [
    ["dashboard", () => ""],
    ["posts", () => "edit.php"],
    ["posts, page 2 to 101", (n) => `edit.php?paged=${n + 2}`],
    ["posts, far into the list", (n) => `edit.php?paged=${3000 + n}`],
    ["posts, drafts", () => "edit.php?post_status=draft"],
    ["posts by title", () => "edit.php?orderby=title&order=asc"],
    ["posts of a category", () => `edit.php?tax_category=${half}`],
    ["posts of a month", (n) => `edit.php?from=20${10 + (n % 9)}-0${1 + (n % 9)}-01&to=20${10 + (n % 9)}-0${1 + (n % 9)}-28`],
    ["posts, a search", (n) => `edit.php?s=${n * 7}`],
    ["pages", () => "edit.php?post_type=page"],
    ["media", () => "upload.php"],
    ["comments", () => "edit-comments.php"],
    ["comments that wait", () => "edit-comments.php?comment_status=moderated"],
    ["categories", () => "edit-tags.php?taxonomy=category"],
    ["tags", () => "edit-tags.php?taxonomy=post_tag"],
    ["users", () => "users.php"],
    ["editor", (n) => `post.php?post=${200 + n}&action=edit`],
  ];
  console.log("| page | p50 | p99 | KB |\n|---|---|---|---|");
  for (const [name, path] of pages) {
    const times = [];
    let bytes = 0;
    await get(path(0));
    for (let n = 0; n < N_REQUESTS; n += 1) {
      const { took, text } = await get(path(n));
      times.push(took);
      bytes = Math.max(bytes, Buffer.byteLength(text));
    }
    times.sort((a, b) => a - b);
    const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1);
    console.log(`| ${name} | ${at(0.5)} | ${at(0.99)} | ${(bytes / 1000).toFixed(0)} |`);
    assert.ok(bytes <= MOST_BYTES, `${name}: ${bytes} bytes`);
  }
} finally {
  server.kill();
  rmSync(data, { recursive: true });
}
