// Checks this front end against a server with many posts: what it shows, and that only what has changed is rendered again.
// Usage: node check.mjs PATH_OF_SVC_SERVER [NUMBER_OF_POSTS], after `npm ci` and `npm run build`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [server, count = "10000"] = process.argv.slice(2);
const n = Number(count);
const data = mkdtempSync(join(tmpdir(), "svc-next-"));
const children = [];
// Next.js keeps pages of earlier runs in `.next`.
const run = Date.now().toString(36);

/** A port that nobody uses. */
const freePort = () =>
  new Promise((resolve) => {
    const socket = http.createServer().listen(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
const [apiPort, proxyPort, nextPort] = [await freePort(), await freePort(), await freePort()];
const site = `http://127.0.0.1:${proxyPort}`;
const front = `http://127.0.0.1:${nextPort}`;
const settings = { SVC_SITE_URL: site, SVC_OUTGOING_ALLOW: `127.0.0.1:${nextPort}` };

// A proxy in front of the API counts the requests of the front end.
let requests = 0;
const proxy = http
  .createServer((request, response) => {
    requests += 1;
    const { method, url, headers } = request;
    const onward = http.request({ port: apiPort, host: "127.0.0.1", method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  })
  .listen(proxyPort, "127.0.0.1");

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

const command = (...args) =>
  execFileSync(server, ["--data", data, ...args], { env: { ...process.env, ...settings }, encoding: "utf8" });

try {
  start(server, ["--data", data, "--listen", `127.0.0.1:${apiPort}`, "--log", "error"], settings);
  await until("svc-server", async () => (await fetch(`http://127.0.0.1:${apiPort}/readyz`)).ok);
  const password = command("app-password", "create", "admin", "check").match(/: (.+)$/m)[1];
  const headers = { Authorization: `Basic ${btoa(`admin:${password}`)}`, "Content-Type": "application/json" };
  const api = async (method, path, body) => {
    const url = `http://127.0.0.1:${apiPort}/svc-json/svc/v2/${path}`;
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
    return response.json();
  };
  const posts = [];
  const create = async (k) => {
    posts[k] = await api("POST", "posts", { title: `Post ${k}`, slug: `${run}-${k}`, status: "publish", content: `<p>Text ${k}</p>` });
  };
  for (let k = 0; k < n; k += 50) await Promise.all(Array.from({ length: Math.min(50, n - k) }, (_, i) => create(k + i)));

  const created = command("webhooks", "create", `${front}/api/hook`, "--events", "post.*,term.*");
  const secret = created.match(/whsec_\S+/)[0];
  start(process.execPath, ["node_modules/next/dist/bin/next", "start", "--port", String(nextPort), "--hostname", "127.0.0.1"], {
    SVC_API: `${site}/svc-json`,
    SVC_HOOK_SECRET: secret,
  });
  await until("next", async () => (await fetch(front)).ok);

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
  await visit();
  const first = requests;
  await visit();
  assert.equal(requests, first, "pages are kept");

  // A change: this page and the lists are rendered again, and no other page.
  const changed = Date.now();
  await api("POST", `posts/${posts[7].id}`, { content: "<p>Corrected</p>" });
  await until("the change", async () => (await page(path(7))).text.includes("Corrected"));
  const seconds = (Date.now() - changed) / 1000;
  await visit();
  const rendered = requests - first;
  assert.ok(rendered <= 4, `${rendered} requests to the API after one change`);

  // A new post, at a path that did not exist before.
  const [slug, title] = [`${run}-new`, `New ${run}`];
  const newPath = path(0).replace(`${run}-0`, slug);
  const before = await page(newPath);
  assert.equal(before.status, 404, `${newPath}: ${before.location}`);
  const { id } = await api("POST", "posts", { title, slug, status: "publish" });
  await until("the new post", async () => (await page(newPath)).status === 200);
  assert.ok((await page("/")).text.includes(title));

  // Another slug redirects, and a post in the trash has no page any more.
  await api("POST", `posts/${id}`, { slug: `${slug}er` });
  await until("the redirect", async () => (await page(newPath)).location?.includes(`/${slug}er/`));
  await api("DELETE", `posts/${id}`);
  await until("the deletion", async () => (await page(newPath.replace(slug, `${slug}er`))).status === 404);

  // A draft is shown to whoever has the link, and to nobody else.
  const draft = await api("POST", "posts", { title: "A draft", status: "draft" });
  const link = await api("POST", "preview-links", { post: draft.id });
  const shown = (token) => page(`/preview?type=post&id=${draft.id}&token=${encodeURIComponent(token)}`);
  assert.ok((await shown(link.token)).text.includes("A draft"));
  assert.ok(!(await shown("forged")).text.includes("A draft"));

  // A delivery with a forged signature changes nothing.
  const forged = await fetch(`${front}/api/hook`, {
    method: "POST",
    headers: { "webhook-id": "1", "webhook-timestamp": String(Math.floor(Date.now() / 1000)), "webhook-signature": "v1,AAAA" },
    body: "{}",
  });
  assert.equal(forged.status, 401);
  console.log(`${n} posts: a change was shown after ${seconds} s, with ${rendered} requests to the API`);
} finally {
  children.forEach((child) => child.kill());
  proxy.close();
  proxy.closeAllConnections();
  rmSync(data, { recursive: true, force: true });
}
