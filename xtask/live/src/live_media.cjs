// Uploads images in the unmodified block editor of a WordPress site over TLS, where the editor makes image sizes itself: first with
// the REST API of the site, then with that of another server on the same database. Both must lead to the same requests,
// attachments, rows of `posts` and `postmeta`, and files.
//
// node live_media.cjs PLAYWRIGHT CHROMIUM SITE OURS LOGIN:PASSWORD KEY CERTIFICATE PHP FOLDER FILE…
//
// PHP runs `live_media.php`, which reads the rows of the site in FOLDER. The name `large.jpg` without a folder stands for a photo of
// 3000 by 2000 pixels, which the editor scales down.
//
// A TLS server in this process stands in front of both. Prints the differences and exits with 1 if there are any.
'use strict';
const { execFileSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const path = require('node:path');
const [playwright, chromium, site, ours, user, key, certificate, php, folder, ...files] = process.argv.slice(2);
const [login, password] = [user.slice(0, user.indexOf(':')), user.slice(user.indexOf(':') + 1)];
const { host, hostname, port } = new URL(site);
const secure = `https://${host}`;
const types = { '.jpg': 'image/jpeg', '.png': 'image/png', '.gif': 'image/gif', '.webp': 'image/webp', '.heic': 'image/heic' };
const print = text => console.log(text);

/** Whether the REST API of the other server is used. */
let useOurs = false;
/** Requests for media that write: route and status. */
let writes = [];

const isApi = url => /^\/(index\.php\/)?wp-json(\/|\?|$)/.test(url) || /[?&]rest_route=/.test(url);

const front = https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(certificate) }, (req, res) => {
  const to = new URL(useOurs && isApi(req.url) ? ours : site);
  const headers = { ...req.headers, host, 'x-forwarded-proto': 'https', 'accept-encoding': 'identity' };
  const out = http.request({ host: to.hostname, port: to.port || 80, path: req.url, method: req.method, headers, agent: false }, response => {
    if (req.method === 'POST' && /\/media[/?]/.test(req.url)) writes.push(`${req.url.replace(/\/\d+\//, '/ID/')} ${response.statusCode}`);
    res.writeHead(response.statusCode, response.rawHeaders);
    response.pipe(res);
  });
  out.on('error', error => res.headersSent ? res.destroy() : res.writeHead(502).end(String(error)));
  req.pipe(out);
});

/** The bytes of a large photo, in Base64. */
const large = page => page.evaluate(async () => {
  const canvas = new OffscreenCanvas(3000, 2000);
  const context = canvas.getContext('2d');
  for (let x = 0; x < 3000; x += 10) {
    context.fillStyle = `rgb(${x % 256} ${(x * 3) % 256} 100)`;
    context.fillRect(x, 0, 10, 2000);
  }
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.7 })).arrayBuffer());
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''));
});

/** Uploads a file as the image block does. Returns the attachment, or the editor's message. */
async function upload(page, file) {
  const name = path.basename(file);
  const bytes = file === 'large.jpg' ? await large(page) : fs.readFileSync(file).toString('base64');
  const done = await page.evaluate(async ({ name, type, bytes }) => {
    const filesList = [new File([Uint8Array.from(atob(bytes), c => c.charCodeAt(0))], name, { type })];
    const { mediaUpload } = wp.data.select('core/block-editor').getSettings();
    return new Promise(resolve => mediaUpload({ filesList, onFileChange: all => all.every(one => one && one.id) && resolve({ id: all[0].id }), onError: error => resolve({ error: error.message || String(error) }) }));
  }, { name, type: types[path.extname(file)], bytes });
  await page.waitForFunction(() => !wp.data.select('core/upload-media').isUploading());
  return done;
}

/** The rows of `posts` and `postmeta` of an attachment in the editor of a post, without times. Serialized values are decoded. */
function rows(id, post) {
  const found = JSON.parse(execFileSync(php, [path.join(__dirname, 'live_media.php'), folder, String(id)], { encoding: 'utf8' }));
  if (found.posts.length !== 1) throw new Error(`${found.posts.length} rows of the attachment ${id}`);
  // Each editor has a post of its own.
  if (found.posts[0].post_parent === String(post)) found.posts[0].post_parent = 'POST';
  // The editor sends several sizes at once, so their order varies.
  for (const meta of found.postmeta) {
    if (meta.meta_value?.sizes) meta.meta_value.sizes = Object.fromEntries(Object.entries(meta.meta_value.sizes).sort());
  }
  return JSON.stringify(found).replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME');
}

/** The attachment as WordPress reads it from the database, its rows, and hashes of its files. */
async function stored(page, id) {
  const item = await page.evaluate(id => fetch(`/wp-json/wp/v2/media/${id}?context=edit`, { headers: { 'X-WP-Nonce': wp.apiFetch.nonceMiddleware.nonce } }).then(response => response.json()), id);
  const { media_details, source_url, missing_image_sizes, filename, filesize, mime_type, title, slug, exif_orientation } = item;
  // The editor sends several sizes at once, so their order varies.
  media_details.sizes = Object.fromEntries(Object.entries(media_details.sizes).sort());
  const text = JSON.stringify({ media_details, source_url, missing_image_sizes, filename, filesize, mime_type, title, slug, exif_orientation });
  const folder = source_url.slice(0, source_url.lastIndexOf('/') + 1);
  const { original_image, source_image, animated_video, animated_video_poster } = media_details;
  const names = [path.basename(source_url), original_image, source_image, animated_video, animated_video_poster, ...Object.values(media_details.sizes).map(size => size.file)];
  const hashes = {};
  for (const name of names.filter(Boolean).sort()) {
    const bytes = await page.evaluate(url => fetch(url).then(async response => `${response.status} ${Array.from(new Uint8Array(await response.arrayBuffer())).join()}`), `${folder}${name}`);
    // The browser encodes a video differently each time.
    hashes[name] = /\.(mp4|webm)$/.test(name) ? 'a video' : crypto.createHash('md5').update(bytes).digest('hex');
  }
  // Sizes that are stored after a rotated main file get a number, and the editor sends both at once.
  const unnumbered = text => text.replace(/-(\d+x\d+)-1\./g, '-$1.');
  const post = await page.evaluate(() => wp.data.select('core/editor').getCurrentPostId());
  const neutral = text => unnumbered(text.replaceAll('http://', 'https://').replaceAll(String(id), 'ID'));
  return { item: neutral(text), rows: neutral(rows(id, post)), files: unnumbered(JSON.stringify(hashes)) };
}

async function uploads(page, file, byOurs) {
  writes = [];
  useOurs = byOurs;
  const { id, error } = await upload(page, file);
  const requests = writes.sort().join('\n');
  useOurs = false;
  if (!id) return { requests, error };
  const found = await stored(page, id);
  // The next upload gets the same names.
  await page.evaluate(id => wp.apiFetch({ path: `/wp/v2/media/${id}?force=true`, method: 'DELETE' }), id);
  return { requests, ...found };
}

(async () => {
  await new Promise(done => front.listen(0, '127.0.0.1', done));
  const rule = `MAP ${hostname}:${port || 443} 127.0.0.1:${front.address().port}`;
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--ignore-certificate-errors', `--host-resolver-rules=${rule}`];
  const browser = await require(playwright).chromium.launch({ executablePath: chromium, args });
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1300, height: 900 } })).newPage();
  page.setDefaultTimeout(120000);
  page.on('dialog', dialog => dialog.accept());
  await page.goto(`${secure}/wp-login.php`);
  await page.fill('#user_login', login);
  await page.fill('#user_pass', password);
  await Promise.all([page.waitForURL(/wp-admin/), page.click('#wp-submit')]);
  const editors = [];
  for (const byOurs of [false, true]) {
    // The editor reads the image sizes of the site from the index.
    useOurs = byOurs;
    const editor = await page.context().newPage();
    editor.setDefaultTimeout(120000);
    await editor.goto(`${secure}/wp-admin/post-new.php`);
    await editor.waitForFunction(() => window.wp && wp.data && wp.data.select('core/block-editor')?.getSettings().mediaUpload);
    await editor.waitForFunction(() => wp.data.resolveSelect('core').getUnstableBase?.().then(index => Boolean(index.image_sizes)) ?? true);
    editors.push(editor);
  }
  if (!(await editors[0].evaluate(() => window.crossOriginIsolated && window.__clientSideMediaProcessing))) {
    print('skipped: the editor does not process images in this browser');
    process.exit(0);
  }
  let differ = 0;
  for (const file of files) {
    const theirs = await uploads(editors[0], file, false);
    const mine = await uploads(editors[1], file, true);
    const found = Object.keys({ ...theirs, ...mine }).filter(name => theirs[name] !== mine[name]);
    differ += found.length ? 1 : 0;
    const result = theirs.error ? `the editor refuses it: ${theirs.error}` : `${theirs.requests.split('\n').length} requests, ${1 + JSON.parse(theirs.rows).postmeta.length} rows, ${Object.keys(JSON.parse(theirs.files)).length} files`;
    print(`${found.length ? 'DIFFERS' : 'ok'}: ${path.basename(file)} (${result})`);
    for (const name of found) print(`    ${name}:\n      ours:   ${mine[name]}\n      theirs: ${theirs[name]}`);
  }
  await browser.close();
  front.close();
  print(`${files.length} files, ${differ} differ`);
  process.exit(differ ? 1 : 0);
})().catch(error => { console.error(error); process.exit(2); });
