// Typical uses of the unmodified node-wpapi library. Usage: node wpapi.cjs LIBRARY SITE USER:PASSWORD PNG
// The steps write to the site and delete what they have created. Prints a line per step, and exits with 1 at the first
// failure.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const [library, site, credentials, png] = process.argv.slice(2);
const WPAPI = require(library);
const colon = credentials.indexOf(':');
const account = { username: credentials.slice(0, colon), password: credentials.slice(colon + 1) };
const endpoint = `${site}/wp-json`;

const anonymous = new WPAPI({ endpoint });
const user = new WPAPI({ endpoint, ...account, auth: true });

/** Asserts that a request fails with this error code and status. */
async function assertFails(promise, code, status) {
  const error = await promise.then(() => assert.fail(`${code} expected`), error => error);
  assert.equal(error.code, code, JSON.stringify(error));
  assert.equal(error.data.status, status);
}

const steps = {
  async 'discovers the site from its front page and creates methods for routes'() {
    const found = await WPAPI.discover(site);
    assert.equal(found._options.endpoint.replace(/\/$/, ''), endpoint);
    for (const method of ['posts', 'pages', 'media', 'categories', 'tags', 'users', 'comments', 'types', 'statuses', 'taxonomies', 'settings', 'search', 'blocks']) {
      assert.equal(typeof found[method], 'function', method);
    }
    assert.equal(found.posts().id(7).toString(), `${endpoint}/wp/v2/posts/7`);
    assert.equal(found.posts().id(7).revisions().toString(), `${endpoint}/wp/v2/posts/7/revisions`);
    assert.ok((await found.posts().perPage(1))[0].id);
  },
  async 'reads the index'() {
    const root = await anonymous.root();
    assert.ok(root.namespaces.includes('wp/v2'));
    assert.ok(root.authentication['application-passwords'].endpoints.authorization);
  },
  async 'lists every collection'() {
    for (const name of ['posts', 'pages', 'media', 'categories', 'tags', 'users', 'comments']) {
      const list = await anonymous[name]();
      assert.ok(Array.isArray(list) && Number(list._paging?.total ?? 0) >= list.length, name); // no paging when empty
    }
    for (const name of ['types', 'statuses', 'taxonomies']) {
      assert.ok(Object.keys(await user[name]()).length > 0, name);
    }
    assert.equal((await user.users().me()).slug, account.username);
    assert.ok((await user.settings()).title !== undefined);
  },
  async 'creates, lists, filters and deletes posts'() {
    const category = await user.categories().create({ name: 'Made by wpapi' });
    const tag = await user.tags().create({ name: 'wpapi tag', description: 'x' });
    const created = [];
    for (const n of [1, 2, 3, 4, 5]) {
      const date = `2020-01-0${n}T10:00:00`;
      created.push(await user.posts().create({ title: `Wpapi ${n}`, content: `<p>Text ${n}</p>`, status: 'publish', date, categories: [category.id], tags: n > 3 ? [tag.id] : [] }));
    }
    const ids = created.map(post => post.id);
    const mine = () => anonymous.posts().categories(category.id);

    const first = await mine().perPage(2).order('asc').orderby('date');
    assert.deepEqual(first.map(post => post.id), ids.slice(0, 2));
    assert.deepEqual([first._paging.total, first._paging.totalPages].map(Number), [5, 3]);
    const second = await first._paging.next;
    assert.deepEqual(second.map(post => post.id), ids.slice(2, 4));
    assert.deepEqual((await second._paging.prev).map(post => post.id), ids.slice(0, 2));
    assert.deepEqual((await mine().perPage(2).page(3)).map(post => post.id), ids.slice(0, 1));
    await assertFails(mine().page(9), 'rest_post_invalid_page_number', 400);

    assert.deepEqual((await mine().tags([tag.id]).order('asc')).map(post => post.id), ids.slice(3));
    assert.deepEqual((await mine().excludeTags([tag.id]).order('asc')).map(post => post.id), ids.slice(0, 3));
    assert.deepEqual((await mine().search('Wpapi 4')).map(post => post.id), [ids[3]]);
    assert.deepEqual((await mine().after('2020-01-04T00:00:00').order('asc')).map(post => post.id), ids.slice(3));
    assert.deepEqual((await mine().before('2020-01-02T00:00:00')).map(post => post.id), ids.slice(0, 1));
    assert.deepEqual((await mine().exclude(ids.slice(1)).author(created[0].author)).map(post => post.id), [ids[0]]);
    assert.deepEqual((await anonymous.posts().include(ids).orderby('include')).map(post => post.id), ids);
    assert.equal((await anonymous.posts().slug(created[2].slug))[0].id, ids[2]);
    assert.equal((await mine().offset(4).order('asc'))[0].id, ids[4]);
    assert.equal((await anonymous.posts().param('status', 'publish').id(ids[0])).id, ids[0]);

    const embedded = await anonymous.posts().id(ids[4]).embed();
    assert.equal(embedded._embedded.author[0].id, created[4].author);
    assert.deepEqual(embedded._embedded['wp:term'].flat().map(term => term.id).sort(), [category.id, tag.id].sort());
    assert.equal((await anonymous.posts().id(ids[4]).param('_fields', 'id')).title, undefined);
    const headers = await anonymous.posts().categories(category.id).headers();
    assert.equal(headers['x-wp-total'], '5');

    const changed = await user.posts().id(ids[0]).update({ title: 'Changed', excerpt: 'Short', sticky: true });
    assert.equal(changed.title.raw, 'Changed');
    assert.equal((await anonymous.posts().sticky(true)).some(post => post.id === ids[0]), true);
    assert.equal((await user.posts().id(ids[0]).revisions()).length >= 1, true);
    const draft = await user.posts().create({ title: 'A draft', status: 'draft' });
    await assertFails(anonymous.posts().id(draft.id), 'rest_forbidden', 401);
    await assertFails(anonymous.posts().create({ title: 'x' }), 'rest_cannot_create', 401);
    await assertFails(user.posts().id(999999999), 'rest_post_invalid_id', 404);
    assert.equal((await user.posts().status(['draft', 'publish']).include([draft.id])).length, 1);
    assert.equal((await user.posts().id(draft.id).delete()).status, 'trash');

    for (const id of [...ids, draft.id]) assert.equal((await user.posts().id(id).delete({ force: true })).deleted, true);
    await user.categories().id(category.id).delete({ force: true });
    await user.tags().id(tag.id).delete({ force: true });
    await assertFails(anonymous.posts().id(ids[0]), 'rest_post_invalid_id', 404);
  },
  async 'creates child pages'() {
    const parent = await user.pages().create({ title: 'Wpapi parent', status: 'publish' });
    const child = await user.pages().create({ title: 'Wpapi child', status: 'publish', parent: parent.id, menu_order: 4 });
    assert.deepEqual((await anonymous.pages().parent(parent.id)).map(page => page.id), [child.id]);
    assert.equal((await anonymous.pages().slug('wpapi-child'))[0].parent, parent.id);
    for (const page of [child, parent]) await user.pages().id(page.id).delete({ force: true });
  },
  async 'uploads files by path and from memory'() {
    const fromPath = await user.media().file(png, 'wpapi path.png').create({ title: 'From a path', alt_text: 'A dot' });
    assert.deepEqual([fromPath.media_type, fromPath.mime_type, fromPath.alt_text], ['image', 'image/png', 'A dot']);
    assert.match(fromPath.source_url, /wpapi-path(-\d+)?\.png$/);
    const fromMemory = await user.media().file(fs.readFileSync(png), 'wpapi-memory.png').create({ caption: 'In memory' });
    assert.equal((await fetch(fromMemory.source_url)).status, 200);
    const post = await user.posts().create({ title: 'With an image', status: 'publish', featured_media: fromPath.id });
    assert.equal((await anonymous.posts().id(post.id).embed())._embedded['wp:featuredmedia'][0].id, fromPath.id);
    assert.equal((await user.media().id(fromPath.id).update({ title: 'Renamed' })).title.raw, 'Renamed');
    await assertFails(user.media().id(fromPath.id).delete(), 'rest_trash_not_supported', 501);
    await user.posts().id(post.id).delete({ force: true });
    for (const file of [fromPath, fromMemory]) assert.equal((await user.media().id(file.id).delete({ force: true })).deleted, true);
    assert.equal((await fetch(fromMemory.source_url)).status, 404);
  },
  async 'creates comments and replies'() {
    const post = await user.posts().create({ title: 'Talked about', status: 'publish', comment_status: 'open' });
    const comment = await user.comments().create({ post: post.id, content: 'First' });
    const reply = await user.comments().create({ post: post.id, content: 'Answer', parent: comment.id });
    assert.deepEqual((await anonymous.comments().forPost(post.id)).map(c => c.id).sort(), [comment.id, reply.id].sort());
    assert.deepEqual((await anonymous.comments().parent(comment.id)).map(c => c.id), [reply.id]);
    assert.equal((await user.comments().id(reply.id).update({ status: 'hold' })).status, 'hold');
    assert.equal((await anonymous.posts().id(post.id).embed())._embedded.replies[0].length, 1);
    for (const id of [reply.id, comment.id]) await user.comments().id(id).delete({ force: true });
    await user.posts().id(post.id).delete({ force: true });
  },
  async 'creates, updates and deletes users'() {
    const created = await user.users().create({ username: 'wpapi-made', email: 'wpapi@example.org', password: 'a long enough secret', roles: ['author'] });
    assert.deepEqual((await user.users().id(created.id).context('edit')).roles, ['author']);
    assert.equal((await user.users().id(created.id).update({ first_name: 'Wally' })).first_name, 'Wally');
    assert.deepEqual((await user.users().search('wpapi-made').context('edit')).map(u => u.id), [created.id]);
    await assertFails(anonymous.users().create({ username: 'nobody', email: 'n@example.org', password: 'x' }), 'rest_cannot_create_user', 401);
    const me = await user.users().me();
    assert.equal((await user.users().id(created.id).delete({ force: true, reassign: me.id })).deleted, true);
  },
  async 'updates and restores settings'() {
    const before = (await user.settings()).description;
    assert.equal((await user.settings().update({ description: 'Set by wpapi' })).description, 'Set by wpapi');
    await user.settings().update({ description: before });
    await assertFails(anonymous.settings(), 'rest_forbidden', 401);
  },
  async 'registers a custom route by its pattern'() {
    const own = new WPAPI({ endpoint, ...account, auth: true });
    own.blockTypes = own.registerRoute('wp/v2', '/block-types/(?P<space>[a-z]+)/(?P<name>[a-z-]+)');
    assert.equal((await own.blockTypes().space('core').name('paragraph')).name, 'core/paragraph');
  },
  async 'rejects wrong credentials'() {
    const intruder = new WPAPI({ endpoint, username: account.username, password: 'wrong', auth: true });
    await intruder.users().me().then(() => assert.fail('the password was accepted'), error => assert.equal(error.data.status, 401));
  },
};

(async () => {
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
      console.log(`ok: ${name}`);
    } catch (error) {
      console.log(`failed: ${name}: ${error.stack || JSON.stringify(error)}`);
      process.exit(1);
    }
  }
})();
