// Steps for the editor that `svc-server editor install` has built, after those of `live_editor.cjs`.
'use strict';

/** Contents that are stored as they are. */
const CONTENTS = {
  'blocks of many kinds': '<!-- wp:heading -->\n<h2 class="wp-block-heading">Head</h2>\n<!-- /wp:heading -->\n\n<!-- wp:paragraph {"dropCap":true} -->\n<p class="has-drop-cap">A &amp; b</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:separator -->\n<hr class="wp-block-separator has-alpha-channel-opacity"/>\n<!-- /wp:separator -->',
  'an unknown block, and spaces': '<!-- wp:acme/thing {"a" : 1} -->\n<div   class=x>kept</div>\n<!-- /wp:acme/thing -->\n\n\n<!-- wp:paragraph -->\n<p>After  </p>\n<!-- /wp:paragraph -->\n \n',
  'markup that is not valid': '<!-- wp:paragraph {"align":"left"} -->\n<div>not a paragraph\n<!-- /wp:paragraph -->',
  'a text without blocks': 'One line\n\nAnother <em>line</em>\r\n',
};

module.exports = ({ site, openPost, save, idle, equal, fault, picture }) => ({
  async 'posts that are saved unchanged stay as they are'(page) {
    await openPost(page, '/wp-admin/post-new.php');
    for (const [name, content] of Object.entries(CONTENTS)) {
      const made = await page.evaluate(content => wp.apiFetch({ path: '/wp/v2/posts', method: 'POST', data: { title: 'Unchanged', content, status: 'publish' } }).then(({ id, content, modified }) => ({ id, raw: content.raw, modified })), content);
      await openPost(page, `/wp-admin/post.php?post=${made.id}&action=edit`);
      equal(new URL(page.url()).pathname + new URL(page.url()).search, `/wp-admin/block-editor.php?post=${made.id}`, 'the URL of the editor');
      equal((await save(page, {})).content.raw, made.raw, name);
      equal((await save(page, { title: 'Another title' })).content.raw, made.raw, `${name}, with another title`);
    }
  },
  async 'a picture is chosen from the media library'(page) {
    await openPost(page, '/wp-admin/post-new.php');
    await page.evaluate(() => {
      const block = wp.blocks.createBlock('core/image');
      wp.data.dispatch('core/block-editor').insertBlocks([block], 0);
      wp.data.dispatch('core/block-editor').selectBlock(block.clientId);
    });
    await page.frameLocator('iframe[name=editor-canvas]').locator('[data-type="core/image"] button:has-text("Media Library")').first().click();
    const dialog = page.locator('[role=dialog]').last();
    await dialog.locator('[role=option], .dataviews-view-picker-grid__card, [role=gridcell]').first().click();
    await dialog.locator('button:has-text("Select")').last().click();
    await page.waitForFunction(() => wp.data.select('core/block-editor').getBlocks().some(b => b.name === 'core/image' && b.attributes.id));
  },
  async 'a new post is typed, illustrated, published and read'(page) {
    await openPost(page, '/wp-admin/post-new.php');
    const canvas = page.frameLocator('iframe[name=editor-canvas]');
    equal(await canvas.locator('.editor-post-title').innerText(), '\ufeff', 'the title of a new post');
    await canvas.locator('.editor-post-title').click();
    await page.keyboard.type('Typed on svc');
    await page.keyboard.press('Enter');
    await page.keyboard.type('By hand.');
    await page.keyboard.press('Enter');
    await page.keyboard.type('/image');
    await page.locator('.components-autocomplete__result:has-text("Image")').first().click();
    const button = canvas.locator('[data-type="core/image"] button:has-text("Upload")').first();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
    await chooser.setFiles(picture('typed.png'));
    await page.waitForFunction(() => wp.data.select('core/block-editor').getBlocks().some(b => b.name === 'core/image' && b.attributes.id));
    await page.locator('.editor-post-publish-button__button').click();
    await page.locator('.editor-post-publish-panel .editor-post-publish-button').click();
    await page.waitForFunction(() => wp.data.select('core/editor').isCurrentPostPublished());
    await idle(page);
    const { id, link, content } = await page.evaluate(() => {
      const { getCurrentPostType, getCurrentPostId } = wp.data.select('core/editor');
      return wp.data.select('core').getEntityRecord('postType', getCurrentPostType(), getCurrentPostId());
    });
    await openPost(page, `/wp-admin/post.php?post=${id}&action=edit`);
    equal((await save(page, {})).content.raw, content.raw, 'the content after the editor was opened again');
    await page.goto(link);
    for (const text of ['Typed on svc', 'By hand.']) if (!(await page.content()).includes(text)) fault(`the page has no “${text}”`);
    if (!(await page.locator('img[src*=typed]').count())) fault('the page has no picture');
  },
  async 'another user has the post open'(page) {
    await openPost(page, '/wp-admin/post-new.php');
    const id = await page.evaluate(() => wp.data.select('core/editor').getCurrentPostId());
    const made = await page.evaluate(() => wp.apiFetch({ path: '/wp/v2/users', method: 'POST', data: { username: `other${Date.now()}`, email: `o${Date.now()}@example.org`, name: 'Other One', password: 'a long pass phrase', roles: ['editor'] } }));
    const context = await page.context().browser().newContext();
    const other = await context.newPage();
    await other.goto(`${site}/wp-login.php`);
    await other.fill('#user_login', made.username);
    await other.fill('#user_pass', 'a long pass phrase');
    await Promise.all([other.waitForURL(/wp-admin/), other.click('#wp-submit')]);
    await openPost(other, `/wp-admin/post.php?post=${id}&action=edit`);
    await other.waitForFunction(() => wp.data.select('core/notices').getNotices().some(n => n.id === 'holder'));
    await context.close();
  },
});
