// Runs the unmodified block editor of a WordPress site in a browser, with the REST API of another server.
//
// node live_editor.cjs PLAYWRIGHT CHROMIUM SITE OURS LOGIN:PASSWORD [STEP…]
//
// A proxy of the browser sends REST API requests to OURS and all others to SITE. Pages preload nothing, so OURS receives
// every API request. Reads are sent to SITE as well: status, headers that clients use, and the shape of the response must be
// the same. Prints the differences and exits with 1 if there are any.
//
// With SVC_EDITOR_INSTALLED, SITE and OURS are one server, and the editor is the one that `svc-server editor install` has built:
// there is nothing to compare with, and `installed_steps.cjs` adds steps.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const [playwright, chromium, site, ours, user, ...only] = process.argv.slice(2);
const [login, password] = [user.slice(0, user.indexOf(':')), user.slice(user.indexOf(':') + 1)];
const log = process.env.SVC_EDITOR_LOG;
/** Whether OURS is a gateway in front of SITE, which receives all requests. */
const gateway = process.env.SVC_EDITOR_GATEWAY;
/** Whether the editor is the one that OURS serves. */
const installed = process.env.SVC_EDITOR_INSTALLED;
/** Steps on screens that are not part of that editor. */
const elsewhere = ['the screens of the site editor open', 'fonts are installed and removed', 'widgets are put into a sidebar and taken out'];
let own = 0;

let step = 'log-in';
let requests = 0;
/** Pending requests of the browser, and the time of the latest request or response. */
let pending = 0;
let latest = 0;
/** Faults, each once. */
const faults = new Set();
const fault = text => faults.add(`    ${text}`);
const print = text => console.log(text);

// The proxy.

const isApi = url => /^\/(index\.php\/)?\w+-json(\/|\?|$)/.test(url) || /[?&]rest_route=/.test(url) || /admin-ajax\.php\?action=rest-nonce/.test(url);

function send(base, req, url, body) {
  const to = new URL(base);
  const headers = { ...req.headers, host: new URL(site).host, 'accept-encoding': 'identity' };
  delete headers['proxy-connection'];
  return new Promise((resolve, reject) => {
    const out = http.request({ host: to.hostname, port: to.port || 80, path: url, method: req.method, headers, agent: false }, response => {
      const parts = [];
      response.on('data', part => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, raw: response.rawHeaders, body: Buffer.concat(parts) }));
    });
    out.on('error', reject);
    out.end(body);
  });
}

/** The shape of a response: its keys and types, which clients depend on. */
function shape(value, at = '') {
  if (Array.isArray(value)) return value.map((item, n) => shape(item, `${at}/${n}`));
  if (value && typeof value === 'object') return Object.fromEntries(Object.keys(value).sort().map(key => [key, shape(value[key], `${at}/${key}`)]));
  return value === null ? null : typeof value;
}

function difference(a, b, at = '') {
  if (a && b && typeof a === 'object' && typeof b === 'object' && Array.isArray(a) === Array.isArray(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (!(key in a)) return `${at}/${key} is missing`;
      if (!(key in b)) return `${at}/${key} is too much`;
      const inner = difference(a[key], b[key], `${at}/${key}`);
      if (inner) return inner;
    }
    return null;
  }
  return a === b ? null : `${at} is ${JSON.stringify(a)} and not ${JSON.stringify(b)}`;
}

/** The differences between two responses; empty if there are none. */
function differences(mine, theirs) {
  if (mine.status !== theirs.status) return [`${mine.status} and not ${theirs.status} ${mine.body.toString().slice(0, 200)}`];
  const found = ['allow', 'content-type', 'x-wp-total', 'x-wp-totalpages', 'link', 'location']
    .filter(name => mine.headers[name] !== theirs.headers[name])
    .map(name => `${name} is ${mine.headers[name]} and not ${theirs.headers[name]}`);
  try {
    found.push(difference(shape(JSON.parse(mine.body)), shape(JSON.parse(theirs.body))));
  } catch {
    if (!mine.body.equals(theirs.body)) found.push('the bodies differ');
  }
  return found.filter(Boolean);
}

const proxy = http.createServer(async (req, res) => {
  pending += 1;
  latest = Date.now();
  res.once('close', () => { pending -= 1; latest = Date.now(); });
  const parts = [];
  for await (const part of req) parts.push(part);
  const body = Buffer.concat(parts);
  const url = req.url.replace(/^https?:\/\/[^/]+/, '') || '/';
  if (/^https?:/.test(req.url) && !req.url.startsWith(site)) return res.writeHead(502).end(); // requests to other hosts are rejected
  try {
    const toServer = isApi(url);
    const response = await send(toServer || gateway ? ours : site, req, url, body);
    if (toServer) {
      requests += 1;
      own += /svc-server-/.test(response.headers.via) ? 0 : 1;
      const method = req.headers['x-http-method-override'] || req.method;
      const what = `${method} ${url}`;
      const entry = { step, what, status: response.status, sent: /json/.test(req.headers['content-type']) ? body.toString() : undefined, headers: response.headers, body: response.body.toString() };
      if (/^(GET|OPTIONS)$/.test(method) && installed) {
        if (response.status >= 500) fault(`${what}: ${response.status}`);
      } else if (/^(GET|OPTIONS)$/.test(method)) {
        const theirs = await send(site, req, url, body);
        Object.assign(entry, { theirs: { status: theirs.status, headers: theirs.headers, body: theirs.body.toString() } });
        // The site may have changed between the two requests.
        const found = differences(response, theirs).length && differences(await send(ours, req, url, body), theirs);
        for (const text of found || []) fault(`${what}: ${text}`);
      } else if (response.status >= 400) {
        fault(`${what}: ${response.status} ${response.body.toString().slice(0, 300)}`);
      }
      if (log) fs.appendFileSync(log, `${JSON.stringify(entry)}\n`);
    } else if (/text\/html/.test(response.headers['content-type'])) {
      response.body = Buffer.from(response.body.toString().replaceAll('wp.apiFetch.createPreloadingMiddleware(', '(() => (options, next) => next(options))('));
    }
    const headers = [];
    for (let i = 0; i < response.raw.length; i += 2) {
      if (!/^(transfer-encoding|connection|content-length|keep-alive)$/i.test(response.raw[i])) headers.push(response.raw[i], response.raw[i + 1]);
    }
    res.writeHead(response.status, [...headers, 'Content-Length', String(response.body.length)]).end(response.body);
  } catch (error) {
    fault(`the proxy: ${error}`);
    res.writeHead(502).end();
  }
});

// The user.

const pause = ms => new Promise(done => setTimeout(done, ms));

/** Waits until the browser has sent no request for a while. */
async function idle(page, ms = 500) {
  await page.waitForLoadState('load').catch(() => {});
  const end = Date.now() + 30000;
  do await pause(100); while ((pending || Date.now() - latest < 500) && Date.now() < end);
  await pause(ms);
}

async function goTo(page, address) {
  if (!installed) return page.goto(`${site}${address}`);
  const query = new URL(address, site).searchParams;
  if (query.has('post')) return page.goto(`${site}/wp-admin/block-editor.php?post=${query.get('post')}`);
  await page.goto(`${site}/wp-admin/edit.php?post_type=${query.get('post_type') || 'post'}`);
  return Promise.all([page.waitForURL(/block-editor\.php/, { waitUntil: 'commit' }), page.click('text=New in the block editor')]);
}

async function open(page, address) {
  await goTo(page, address);
  await page.waitForFunction(() => window.wp && wp.data && wp.data.select('core/block-editor') && wp.data.dispatch('core/preferences'));
  await page.evaluate(() => {
    const set = wp.data.dispatch('core/preferences').set;
    for (const guide of ['welcomeGuide', 'welcomeGuideStyles', 'welcomeGuidePage', 'welcomeGuideTemplate']) {
      set('core/edit-post', guide, false);
      set('core/edit-site', guide, false);
    }
    set('core', 'enableChoosePatternModal', false);
  });
  await idle(page);
}

async function openPost(page, address) {
  await open(page, address);
  await page.waitForFunction(() => wp.data.select('core/editor').getCurrentPostId());
}

/** Saves what was edited, and fails when that does not work. */
async function save(page, edits) {
  await page.evaluate(async edits => {
    const { isSavingPost } = wp.data.select('core/editor');
    const { editPost, savePost } = wp.data.dispatch('core/editor');
    // Nothing is saved during an autosave.
    while (isSavingPost()) await new Promise(done => setTimeout(done, 50));
    editPost(edits);
    await savePost();
  }, edits);
  await page.waitForFunction(() => { const s = wp.data.select('core/editor'); return !s.isSavingPost() && (s.didPostSaveRequestSucceed() || s.didPostSaveRequestFail()); });
  await idle(page);
  if (await page.evaluate(() => wp.data.select('core/editor').didPostSaveRequestFail())) fault('saving failed');
  return current(page);
}

/** The post in the editor as it is stored: `getCurrentPost` may have texts in place of what the interface answered. */
const current = page => page.evaluate(() => {
  const { getCurrentPostType, getCurrentPostId } = wp.data.select('core/editor');
  return wp.data.select('core').getEntityRecord('postType', getCurrentPostType(), getCurrentPostId());
});

/** A record of any kind through the editor's own store. */
const record = (page, kind, name, value) => page.evaluate(([kind, name, value]) => wp.data.dispatch('core').saveEntityRecord(kind, name, value, { throwOnError: true }).then(made => ({ id: made.id, status: made.status })), [kind, name, value]);
const remove = (page, kind, name, id) => page.evaluate(([kind, name, id]) => wp.data.dispatch('core').deleteEntityRecord(kind, name, id, { force: true }, { throwOnError: true }).then(() => null), [kind, name, id]);

function equal(a, b, what) {
  if (JSON.stringify(a) !== JSON.stringify(b)) fault(`${what}: ${JSON.stringify(a)} and not ${JSON.stringify(b)}`);
}

/** A picture of one point. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC';

/** It, as a file of this name. */
function picture(name) {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'svc-editor-')), name);
  fs.writeFileSync(file, Buffer.from(DOT, 'base64'));
  return file;
}

let post = 0;
const steps = {
  async 'a new post is written'(page) {
    await openPost(page, '/wp-admin/post-new.php');
    const canvas = page.frameLocator('iframe[name=editor-canvas]');
    await canvas.locator('.editor-post-title').click();
    await page.keyboard.type('Written in the editor');
    await page.keyboard.press('Enter');
    await page.keyboard.type('A first paragraph.');
    await page.keyboard.press('Enter');
    await page.evaluate(() => {
      const make = wp.blocks.createBlock;
      wp.data.dispatch('core/block-editor').insertBlocks([
        make('core/list', {}, [make('core/list-item', { content: 'one' }), make('core/list-item', { content: 'two' })]),
        make('core/table', { body: [{ cells: [{ content: 'a', tag: 'td' }, { content: 'b', tag: 'td' }] }] }),
        make('core/latest-posts'), make('core/archives'), make('core/calendar'), make('core/tag-cloud'), make('core/page-list'),
        make('core/query', {}, [make('core/post-template', {}, [make('core/post-title'), make('core/post-excerpt'), make('core/post-terms', { term: 'category' })])]),
      ]);
    });
    await idle(page, 1500);
  },
  async 'a picture is uploaded'(page) {
    await page.evaluate(() => {
      const block = wp.blocks.createBlock('core/image');
      wp.data.dispatch('core/block-editor').insertBlocks([block], 1);
      wp.data.dispatch('core/block-editor').selectBlock(block.clientId);
    });
    const button = page.frameLocator('iframe[name=editor-canvas]').locator('[data-type="core/image"] button:has-text("Upload")').first();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
    await chooser.setFiles(picture('dot.png'));
    await page.waitForFunction(() => wp.data.select('core/block-editor').getBlocks().some(b => b.name === 'core/image' && b.attributes.id));
    await idle(page);
  },
  async 'a category and a tag are made in the sidebar'(page) {
    await page.evaluate(() => { wp.data.dispatch('core/block-editor').clearSelectedBlock(); wp.data.dispatch('core/edit-post').openGeneralSidebar('edit-post/document'); });
    const panel = async title => {
      const button = page.locator(`.components-panel__body-title button:has-text("${title}")`).first();
      if (await button.getAttribute('aria-expanded') === 'false') await button.click();
    };
    await panel('Categories');
    await page.locator('.editor-post-taxonomies__hierarchical-terms-add').click();
    await page.locator('.editor-post-taxonomies__hierarchical-terms-input input').fill(`Sidebar ${Date.now()}`);
    await page.locator('.editor-post-taxonomies__hierarchical-terms-submit').click();
    await idle(page);
    await panel('Tags');
    await page.locator('.components-form-token-field__input').first().pressSequentially(`side-${Date.now()}`, { delay: 20 });
    await page.keyboard.press('Enter');
    await idle(page, 1000);
    const edited = await page.evaluate(() => { const get = wp.data.select('core/editor').getEditedPostAttribute; return [get('categories').length > 0, get('tags').length]; });
    equal(edited, [true, 1], 'categories and tags');
  },
  async 'it is published, changed, scheduled, hidden'(page) {
    const media = await page.evaluate(() => wp.data.select('core/block-editor').getBlocks().find(b => b.name === 'core/image').attributes.id);
    let saved = await save(page, { status: 'publish', excerpt: 'In short', slug: 'in-the-editor', featured_media: media, comment_status: 'closed' });
    post = saved.id;
    equal([saved.status, saved.excerpt.raw, saved.featured_media], ['publish', 'In short', media], 'the published post');
    saved = await save(page, { title: 'Changed in the editor', sticky: true, format: 'aside' });
    equal([saved.title.raw, saved.sticky, saved.format], ['Changed in the editor', true, 'aside'], 'the changed post');
    saved = await save(page, { sticky: false });
    equal((await save(page, { password: 'sesame' })).content.protected, true, 'the protected post');
    equal((await save(page, { password: '', status: 'private' })).status, 'private', 'the private post');
    equal((await save(page, { date: '2035-02-03T04:05:06', status: 'future' })).status, 'future', 'the scheduled post');
    equal((await save(page, { date: null, status: 'draft' })).status, 'draft', 'the draft');
    equal((await save(page, { status: 'publish' })).status, 'publish', 'the post, published again');
  },
  async 'a gallery is made of uploaded pictures'(page) {
    const made = await page.evaluate(async names => {
      const bytes = Uint8Array.from(atob(names.shift()), c => c.charCodeAt(0));
      const filesList = names.map(name => new File([bytes], name, { type: 'image/png' }));
      const upload = wp.data.select('core/block-editor').getSettings().mediaUpload;
      const done = await new Promise((resolve, reject) => upload({ filesList, allowedTypes: ['image'], onFileChange: all => all.every(one => one && one.id) && resolve(all), onError: reject }));
      const images = done.map(({ id, url }) => wp.blocks.createBlock('core/image', { id, url, linkTo: 'none' }));
      wp.data.dispatch('core/block-editor').insertBlocks([wp.blocks.createBlock('core/gallery', { linkTo: 'none' }, images), wp.blocks.createBlock('core/media-text', { mediaId: done[0].id, mediaType: 'image' }), wp.blocks.createBlock('core/cover', { id: done[0].id, url: done[0].url })]);
      return done.length;
    }, [DOT, 'one.png', 'two.png']);
    equal(made, 2, 'pictures of the gallery');
    await idle(page, 1500);
    equal((await save(page, {})).content.raw.includes('wp-block-gallery'), true, 'the gallery is saved');
  },
  async 'it is saved by itself, and opened again'(page) {
    await page.evaluate(() => { wp.data.dispatch('core/editor').editPost({ title: 'Not saved yet' }); wp.data.dispatch('core/editor').autosave(); });
    await idle(page, 1500);
    await openPost(page, `/wp-admin/post.php?post=${post}&action=edit`);
    const broken = await page.evaluate(() => wp.data.select('core/block-editor').getBlocks().filter(b => !b.isValid).length);
    equal([(await current(page)).title.raw, broken], ['Changed in the editor', 0], 'title, and blocks that are not valid');
    equal(await page.evaluate(() => wp.data.select('core/notices').getNotices().some(n => n.id === 'autosave-exists')), true, 'the editor offers the autosave');
  },
  async 'its revisions are shown'(page) {
    const [one, two] = await page.evaluate(async id => (await wp.data.resolveSelect('core').getRevisions('postType', 'post', id, { per_page: -1, context: 'edit' })).map(r => r.title.raw), post);
    equal([one !== undefined, two !== undefined], [true, true], 'revisions');
    await page.goto(`${site}/wp-admin/revision.php?revision=${await page.evaluate(id => wp.data.select('core/editor').getCurrentPostLastRevisionId(), post)}`);
    await idle(page);
  },
  async 'a note is left at a block'(page) {
    await openPost(page, `/wp-admin/post.php?post=${post}&action=edit`);
    const note = await record(page, 'root', 'comment', { post, content: 'A note', status: 'hold', type: 'note', parent: 0 });
    const response = await record(page, 'root', 'comment', { post, content: 'An response', status: 'hold', type: 'note', parent: note.id });
    equal((await record(page, 'root', 'comment', { id: note.id, status: 'approved' })).status, 'approved', 'the note');
    for (const { id } of [response, note]) await remove(page, 'root', 'comment', id);
  },
  async 'patterns and menus are made and changed'(page) {
    const pattern = await record(page, 'postType', 'wp_block', { title: 'Pattern', content: '<!-- wp:paragraph --><p>P</p><!-- /wp:paragraph -->', status: 'publish' });
    await page.evaluate(ref => wp.data.dispatch('core/block-editor').insertBlocks([wp.blocks.createBlock('core/block', { ref })]), pattern.id);
    await idle(page);
    const category = await record(page, 'taxonomy', 'wp_pattern_category', { name: `Patterns ${Date.now()}` });
    await record(page, 'postType', 'wp_block', { id: pattern.id, title: 'Renamed', wp_pattern_category: [category.id] });
    await record(page, 'postType', 'wp_block', { title: 'Loose', content: '', status: 'publish', meta: { wp_pattern_sync_status: 'unsynced' } }).then(({ id }) => remove(page, 'postType', 'wp_block', id));
    await remove(page, 'postType', 'wp_block', pattern.id);
    await remove(page, 'taxonomy', 'wp_pattern_category', category.id);
    const menu = await record(page, 'postType', 'wp_navigation', { title: 'Menu', content: '<!-- wp:page-list /-->', status: 'publish' });
    await record(page, 'postType', 'wp_navigation', { id: menu.id, content: '<!-- wp:navigation-link {"label":"X","url":"/x"} /-->' });
    await page.evaluate(ref => wp.data.dispatch('core/block-editor').insertBlocks([wp.blocks.createBlock('core/navigation', { ref })]), menu.id);
    await idle(page, 1000);
    await remove(page, 'postType', 'wp_navigation', menu.id);
  },
  async 'the post is thrown away'(page) {
    await openPost(page, `/wp-admin/post.php?post=${post}&action=edit`);
    await page.evaluate(() => { wp.data.dispatch('core/editor').trashPost(); });
    await page.waitForURL(/edit\.php/, { timeout: 30000 }).catch(() => {});
    await idle(page);
  },
  async 'pictures, links and addresses are looked for'(page) {
    await openPost(page, '/wp-admin/post-new.php');
    await page.evaluate(async () => {
      const settings = wp.data.select('core/block-editor').getSettings();
      for (const media_type of ['image', 'video', 'audio']) await wp.data.resolveSelect('core').getEntityRecords('postType', 'attachment', { media_type, per_page: 20, search: 'dot', orderby: 'date' });
      for (const options of [{ perPage: 20 }, { isInitialSuggestions: true, initialSuggestionsSearchOptions: { type: 'post', subtype: 'page', perPage: 3 } }, { type: 'taxonomy', subtype: 'category' }, { type: 'attachment' }, { type: 'post-format' }]) await settings.__experimentalFetchLinkSuggestions(options.perPage ? 'e' : '', options);
      await settings.__experimentalFetchRichUrlData(window.location.origin + '/').catch(() => null);
    });
    await page.locator('.editor-document-tools__inserter-toggle').click();
    await idle(page, 1000);
    for (const tab of ['Patterns', 'Media']) {
      await page.locator(`.block-editor-inserter__menu [role=tab]:has-text("${tab}")`).first().click();
      await idle(page, 1000);
    }
  },
  async 'a post takes a template that was made for it'(page) {
    await openPost(page, '/wp-admin/post-new.php');
    const slug = `own-${Date.now()}`;
    const template = await record(page, 'postType', 'wp_template', { slug, title: 'Own', content: '<!-- wp:post-content /-->', status: 'publish' });
    const saved = await save(page, { title: 'Drawn by its own', status: 'publish', template: slug });
    equal(saved.template, slug, 'the template of the post');
    await page.evaluate(() => { wp.data.dispatch('core/editor').setRenderingMode('template-locked'); });
    await idle(page, 1000);
    await remove(page, 'postType', 'post', saved.id);
    await remove(page, 'postType', 'wp_template', template.id);
  },
  async 'a page has a parent and a template'(page) {
    await openPost(page, '/wp-admin/post-new.php?post_type=page');
    const parent = await record(page, 'postType', 'page', { title: 'Above', status: 'publish' });
    const saved = await save(page, { title: 'Below', status: 'publish', parent: parent.id, menu_order: 3 });
    equal([saved.parent, saved.menu_order], [parent.id, 3], 'the page');
    await page.evaluate(() => { wp.data.dispatch('core/editor').setRenderingMode('template-locked'); });
    await idle(page, 1000);
    for (const id of [saved.id, parent.id]) await remove(page, 'postType', 'page', id);
  },
  async 'the screens of the site editor open'(page) {
    for (const screen of ['', '?p=/&canvas=edit', '?p=/navigation', '?p=/styles', '?p=/page', '?p=/template', '?p=/pattern', '?p=/pattern&postType=wp_template_part']) {
      await open(page, `/wp-admin/site-editor.php${screen}`);
    }
  },
  async 'styles of the site are changed and put back'(page) {
    await open(page, '/wp-admin/site-editor.php?p=/styles&section=/revisions');
    const id = await page.evaluate(() => wp.data.resolveSelect('core').__experimentalGetCurrentGlobalStylesId?.() ?? wp.data.select('core').__experimentalGetCurrentGlobalStylesId());
    const before = await page.evaluate(id => wp.data.resolveSelect('core').getEntityRecord('root', 'globalStyles', id).then(({ settings, styles }) => ({ settings, styles })), id);
    await record(page, 'root', 'globalStyles', { id, styles: { color: { background: '#fafafa' }, css: '.a{color:red}' }, settings: { color: { palette: { custom: [{ slug: 'mine', name: 'Mine', color: '#123456' }] } } } });
    await page.evaluate(id => wp.apiFetch({ path: `/wp/v2/global-styles/${id}/revisions?context=edit` }).then(() => null), id);
    await record(page, 'root', 'globalStyles', { id, ...before });
  },
  async 'fonts are installed and removed'(page) {
    await page.goto(`${site}/wp-admin/font-library.php`);
    await page.waitForFunction(() => window.wp && wp.apiFetch);
    await idle(page, 1500);
    await open(page, '/wp-admin/site-editor.php?p=/styles&section=/typography');
    await page.evaluate(async slug => {
      const post = (path, name, value) => {
        const body = new FormData();
        body.append(name, JSON.stringify(value));
        return wp.apiFetch({ path, method: 'POST', body });
      };
      const settings = { name: 'A font', slug, fontFamily: '"A font", serif' };
      const family = await post('/wp/v2/font-families', 'font_family_settings', settings);
      const face = { fontFamily: settings.fontFamily, fontStyle: 'normal', fontWeight: '400', src: `${location.origin}/a.woff2` };
      await post(`/wp/v2/font-families/${family.id}/font-faces`, 'font_face_settings', face);
      await wp.apiFetch({ path: `/wp/v2/font-families?slug=${slug}&_embed=true` });
      await wp.apiFetch({ path: '/wp/v2/font-collections' });
      await wp.apiFetch({ path: `/wp/v2/font-families/${family.id}?force=true`, method: 'DELETE' });
    }, `a-font-${Date.now()}`);
  },
  async 'widgets are put into a sidebar and taken out'(page) {
    await page.goto(`${site}/wp-admin/widgets.php`);
    // The theme may have no sidebars.
    if (!(await page.evaluate(() => Boolean(window.wp && wp.data && wp.data.select('core/edit-widgets'))))) return;
    await page.waitForFunction(() => wp.data.select('core/edit-widgets').getWidgetAreas()?.length && !wp.data.select('core/edit-widgets').isSavingWidgetAreas());
    await idle(page, 1500);
    const changed = await page.evaluate(async () => {
      const { select, dispatch } = wp.data;
      const area = select('core/block-editor').getBlocks().find(block => block.name === 'core/widget-area');
      const block = wp.blocks.createBlock('core/paragraph', { content: 'In a sidebar' });
      const blocks = () => select('core/block-editor').getBlocks(area.clientId).length;
      const counts = [blocks()];
      dispatch('core/block-editor').insertBlock(block, 0, area.clientId);
      await dispatch('core/edit-widgets').saveEditedWidgetAreas();
      counts.push(blocks());
      dispatch('core/block-editor').removeBlock(block.clientId);
      await dispatch('core/edit-widgets').saveEditedWidgetAreas();
      return counts[1] - counts[0];
    });
    equal(changed, 1, 'widgets that were added');
    await idle(page);
  },
  async 'templates are changed and cleared'(page) {
    await open(page, '/wp-admin/site-editor.php?p=/template');
    const theme = await page.evaluate(() => wp.data.resolveSelect('core').getCurrentTheme().then(theme => theme.stylesheet));
    const id = await page.evaluate(() => wp.data.resolveSelect('core').getEntityRecords('postType', 'wp_template', { per_page: -1 }).then(all => all.find(t => t.source === 'theme' && t.slug !== 'index')?.id));
    await record(page, 'postType', 'wp_template', { id, content: '<!-- wp:paragraph --><p>Changed</p><!-- /wp:paragraph -->' });
    await page.evaluate(id => wp.apiFetch({ path: `/wp/v2/templates/${id}/revisions?context=edit` }).then(() => null), id);
    await remove(page, 'postType', 'wp_template', id);
    const part = await record(page, 'postType', 'wp_template_part', { slug: `part-${Date.now()}`, title: 'Part', content: '<!-- wp:site-title /-->', area: 'header', theme });
    await remove(page, 'postType', 'wp_template_part', part.id);
  },
};

if (installed) {
  for (const name of elsewhere) delete steps[name];
  Object.assign(steps, require('./installed_steps.cjs')({ site, open, openPost, save, idle, equal, fault, picture, record, remove }));
}

(async () => {
  await new Promise(done => proxy.listen(0, '127.0.0.1', done));
  const server = `http://127.0.0.1:${proxy.address().port}`;
  const browser = await require(playwright).chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-dev-shm-usage'], proxy: { server, bypass: '<-loopback>' } });
  const page = await (await browser.newContext({ viewport: { width: 1300, height: 900 } })).newPage();
  // The first page loads the whole editor, on machines that do other work as well.
  page.setDefaultTimeout(180000);
  // A font at an unreachable URL is such an error.
  page.on('pageerror', error => /NetworkError/.test(error) || fault(`an error on the page: ${error.stack || error}`));
  page.on('dialog', dialog => dialog.accept());
  if (installed) page.on('console', message => /Content Security Policy|Refused to/.test(message.text()) && fault(message.text()));
  await page.goto(`${site}/wp-login.php`);
  await page.fill('#user_login', login);
  await page.fill('#user_pass', password);
  await Promise.all([page.waitForURL(/wp-admin/), page.click('#wp-submit')]);
  for (const [name, run] of Object.entries(steps)) {
    if (only.length && !only.some(wanted => name.includes(wanted))) continue;
    step = name;
    const [before, known] = [requests, [...faults]];
    try {
      await run(page);
    } catch (error) {
      fault(String(error).slice(0, 600));
      if (log) await page.screenshot({ path: `${log}.${Object.keys(steps).indexOf(name)}.png` });
    }
    const found = [...faults].slice(known.length);
    print([`${found.length ? 'DIFFERS' : 'ok'}: ${name} (${requests - before} requests)`, ...found].join('\n'));
  }
  await browser.close();
  proxy.close();
  print(`${requests} requests, ${faults.size} differ${gateway ? `; handled by the server: ${own}` : ''}`);
  process.exit(faults.size ? 1 : 0);
})().catch(error => { console.error(error); process.exit(2); });
