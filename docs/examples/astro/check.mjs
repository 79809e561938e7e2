// Checks this front end against a server with many posts, with a small cache in front of it that the server purges.
// Usage: node check.mjs PATH_OF_SVC_SERVER [NUMBER_OF_POSTS], after `npm ci` and `npm run build`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [server, count = "10000"] = process.argv.slice(2);
const n = Number(count);
const data = mkdtempSync(join(tmpdir(), "svc-astro-"));
const children = [];

/** A port that nobody uses. */
const freePort = () =>
  new Promise((resolve) => {
    const socket = http.createServer().listen(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
const [apiPort, cachePort, astroPort] = [await freePort(), await freePort(), await freePort()];
const site = `http://127.0.0.1:${apiPort}`;
const front = `http://127.0.0.1:${cachePort}`;
const settings = {
  SVC_CACHE_TAGS: "cache-tag",
  SVC_SHARED_MAX_AGE: "86400",
  SVC_PURGE_SERVICE: "custom",
  SVC_PURGE_URL: `${front}/purge`,
  SVC_PURGE_METHOD: "POST",
  SVC_PURGE_BODY: "{tags:json}",
  SVC_OUTGOING_ALLOW: `127.0.0.1:${cachePort}`,
};

// A cache that keeps pages with tags until one of these is purged.
const kept = new Map();
let rendered = 0;
const cache = http
  .createServer(async (request, response) => {
    if (request.url === "/purge") {
      let body = "";
      for await (const chunk of request) body += chunk;
      const purged = new Set(JSON.parse(body));
      for (const [url, page] of kept) if (page.tags.some((tag) => purged.has(tag))) kept.delete(url);
      return response.writeHead(204).end();
    }
    let page = kept.get(request.url);
    if (!page) {
      rendered += 1;
      const answer = await fetch(`http://127.0.0.1:${astroPort}${request.url}`, { redirect: "manual" });
      const tags = (answer.headers.get("cache-tag") ?? "").split(",").filter((tag) => tag !== "");
      page = { status: answer.status, location: answer.headers.get("location") ?? "", text: await answer.text(), tags };
      if (tags.length > 0 && (answer.headers.get("cache-control") ?? "").includes("s-maxage")) kept.set(request.url, page);
    }
    response.writeHead(page.status, { location: page.location }).end(page.text);
  })
  .listen(cachePort, "127.0.0.1");

function start(program, args, env) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
}

async function until(what, check) {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    if (await check().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited too long: ${what}`);
}

try {
  start(server, ["--data", data, "--listen", `127.0.0.1:${apiPort}`, "--log", "error"], settings);
  await until("svc-server", async () => (await fetch(`${site}/readyz`)).ok);
  const created = execFileSync(server, ["--data", data, "app-password", "create", "admin", "check"], { encoding: "utf8" });
  const headers = { Authorization: `Basic ${btoa(`admin:${created.match(/: (.+)$/m)[1]}`)}`, "Content-Type": "application/json" };
  const api = async (method, path, body) => {
    const response = await fetch(`${site}/svc-json/svc/v2/${path}`, { method, headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return response.json();
  };
  const posts = [];
  const create = async (k) => {
    posts[k] = await api("POST", "posts", { title: `Post ${k}`, slug: `post-${k}`, status: "publish", content: `<p>Text ${k}</p>` });
  };
  for (let k = 0; k < n; k += 50) await Promise.all(Array.from({ length: Math.min(50, n - k) }, (_, i) => create(k + i)));
  start(process.execPath, ["dist/server/entry.mjs"], { SVC_API: `${site}/svc-json`, HOST: "127.0.0.1", PORT: String(astroPort) });
  await until("astro", async () => (await fetch(`http://127.0.0.1:${astroPort}/`)).ok);

  const page = async (path) => {
    const response = await fetch(front + path, { redirect: "manual" });
    return { status: response.status, location: response.headers.get("location"), text: await response.text() };
  };
  const path = (k) => new URL(posts[k].link).pathname;
  const sample = Array.from({ length: Math.min(200, n) }, (_, k) => k);
  const visit = async () => {
    for (const k of sample) {
      const { status, text } = await page(path(k));
      assert.ok(status === 200 && text.includes(`Post ${k}`), `${path(k)}: ${status}`);
    }
  };
  // Purges of the new posts come within seconds, twice.
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  await visit();
  const first = rendered;
  await visit();
  assert.equal(rendered, first, "pages are kept");

  const changed = Date.now();
  await api("POST", `posts/${posts[7].id}`, { content: "<p>Corrected</p>" });
  await until("the change", async () => (await page(path(7))).text.includes("Corrected"));
  const seconds = (Date.now() - changed) / 1000;
  await visit();
  const again = rendered - first;
  assert.ok(again <= 4, `${again} pages were rendered again after one change`);

  // Another slug redirects, and a post in the trash has no page any more.
  const before = path(7);
  await api("POST", `posts/${posts[7].id}`, { slug: "another" });
  await until("the redirect", async () => (await page(before)).location?.includes("/another/"));
  await api("DELETE", `posts/${posts[7].id}`);
  await until("the deletion", async () => (await page(before.replace("post-7", "another"))).status === 404);
  await api("POST", "posts", { title: "The newest", status: "publish" });
  await until("the new post", async () => (await page("/")).text.includes("The newest"));

  // A draft is shown to whoever has the link, and to nobody else.
  const draft = await api("POST", "posts", { title: "A draft", status: "draft" });
  const link = await api("POST", "preview-links", { post: draft.id });
  const shown = (token) => page(`/preview?type=post&id=${draft.id}&token=${encodeURIComponent(token)}`);
  assert.ok((await shown(link.token)).text.includes("A draft"));
  assert.equal((await shown("forged")).status, 404);
  console.log(`${n} posts: a change was shown after ${seconds} s; ${again} pages were rendered again`);
} finally {
  children.forEach((child) => child.kill());
  cache.close();
  cache.closeAllConnections();
  rmSync(data, { recursive: true, force: true });
}
