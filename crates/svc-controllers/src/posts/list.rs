//! Lists of posts: finds the ids on the requested page, and prepares the posts that are not cached.

use std::{collections::HashMap, sync::Arc};

use svc_auth::{Caller, caps::PostCap};
use svc_model::{Post, PostId};
use svc_render::feeds::{MissingFeeds, with_feeds};
use svc_resource::{LazyTyped, Paging, View};
use svc_routing::{Links, Map, Request, Response, Result};
use svc_site::{Access, Settings, SiteResult};
use svc_store::{
    Db,
    posts::{self, PostQuery},
    rows,
};
use svc_versions::Context;

use super::{LoadedPost, Posts, attachment, blocks, fields::PostPlan, meta_filter, params::PostList, query_password};
use crate::{
    caller,
    collection::{self, Totals},
    cursor::ListPage,
    encoded_items::{ItemReader, PreparedItem},
    item_cache::{CachedPage, PageLinks},
};

impl Posts {
    /// Reads posts as the request selects them.
    pub(super) fn reader<'r>(&'r self, req: &'r Request) -> ItemReader<'r> {
        // Items are cached for URLs without passwords and page numbers of query blocks, and without blocks as data.
        let varies = !query_password(req).is_empty() || has_block_pages(req) || blocks::wanted(req).is_some();
        let cache = || self.rest.item_cache(req.cx(), &self.extra, &self.post_type.name);
        ItemReader::new(req, self.family, if varies { None } else { cache() })
    }

    pub(crate) async fn list(self: Arc<Self>, req: Request, list: LazyTyped<PostList>) -> Result<Response> {
        let items = self.reader(&req);
        let prepare = async |req: Request, ids: &[i64]| self.prepare(&req, items.view(), ids).await;
        self.list_of(&req, list, &items, &self.site.route_of_type(&self.post_type), prepare).await
    }

    /// The requested page of the collection at this route. `prepare` is called with ids of posts.
    pub(crate) async fn list_of(
        &self,
        req: &Request,
        list: LazyTyped<PostList>,
        items: &ItemReader<'_>,
        route: &str,
        prepare: impl AsyncFnOnce(Request, &[i64]) -> Result<Vec<PreparedItem>>,
    ) -> Result<Response> {
        if req.params().query.contains_key(meta_filter::PARAM) && !self.params.has(meta_filter::PARAM) {
            return Err(meta_filter::no_fields());
        }
        let page = items.page(async |req: Request| self.find_page(&req, list)).await?;
        if matches!(page.links, PageLinks::Pages) {
            page.paging.check("rest_post_invalid_page_number")?;
        }
        let response = items.list(&page.ids, prepare).await?;
        let url = self.site.settings(req.cx())?.urls.rest(route);
        Ok(collection::with_page(&self.site, response, &page, &url, req, Totals::Numbers))
    }

    /// The ids on the requested page, and the size of the list.
    fn find_page(&self, req: &Request, list: LazyTyped<PostList>) -> Result<CachedPage> {
        let (list, caller) = (list.accepted()?, caller(req));
        let requested = ListPage::read(&self.site, req)?;
        // Sticky posts keep their position in a list that continues from it.
        let prepends_sticky = list.prepends_sticky() && !requested.is_by_cursor();
        let (page, per_page) = (list.page, list.per_page);
        let has_offset = list.has_offset();
        let found = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let query = requested.select(list.into_query(db, &self.site, &settings, &self.post_type, &caller)?);
            let mut found = posts::query(db, &query)?;
            if prepends_sticky {
                prepend_sticky(db, &query, &settings.sticky_list, &mut found.ids)?;
            }
            Ok(found)
        })?;
        // An empty page is an error only beyond the last page. On page 1, and with `offset`, its total is 0.
        let is_empty_list = found.ids.is_empty() && (page == 1 || has_offset) && !requested.is_by_cursor();
        let total = if is_empty_list { 0 } else { found.total.unwrap_or_default() };
        requested.found(&self.site, &found, Paging { total, per_page, page })
    }

    /// Loads something from the posts of these ids that the caller may read, or edit in context `edit`, in one snapshot.
    pub(crate) fn load_visible<T>(
        &self,
        req: &Request,
        ids: &[i64],
        load: impl FnOnce(&mut Db, &Arc<Settings>, &Access<'_>, Vec<Post>) -> SiteResult<T>,
    ) -> Result<T> {
        let (ids, caller): (Vec<PostId>, _) = (ids.iter().copied().map(PostId).collect(), caller(req));
        self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let rows = posts::get_many(db, &ids)?;
            let (access, rows) = self.visible(db, &settings, req, &caller, rows)?;
            load(db, &settings, &access, rows)
        })
    }

    /// The posts that the caller may read, or edit in context `edit`.
    fn visible<'a>(
        &'a self,
        db: &mut Db,
        settings: &'a Settings,
        req: &Request,
        caller: &Caller,
        rows: Vec<Post>,
    ) -> SiteResult<(Access<'a>, Vec<Post>)> {
        let access = Access::of_posts(&self.site, settings, db, &rows)?;
        let edits = req.context() == "edit";
        let is_visible = |post: &Post| {
            if edits { caller.can_post(PostCap::Edit, post, &access) } else { access.can_read(caller, post) }
        };
        let rows = rows.into_iter().filter(is_visible).collect();
        Ok((access, rows))
    }

    /// Prepares posts that are loaded together, and determines what each of them depends on.
    pub(super) async fn prepare(&self, req: &Request, view: &View, ids: &[i64]) -> Result<Vec<PreparedItem>> {
        let ids: Vec<PostId> = ids.iter().copied().map(PostId).collect();
        let (caller, plan, cx) = (caller(req), self.fields.plan(view), req.cx());
        let load = |missing: &MissingFeeds| {
            let (loaded, shared) = cx.capture(|| {
                self.site.read(cx, |db| {
                    let settings = self.site.settings_in(db)?;
                    // Each item depends on its own row.
                    let rows = db.recorded_by_caller(|db| posts::get_many(db, &ids))?;
                    let (access, rows) = self.visible(db, &settings, req, &caller, rows)?;
                    let mut loader = self.loader(&settings, &caller, view);
                    loader.password = query_password(req);
                    loader.req = Some(req);
                    loader.missing = missing.clone();
                    loader.records_items = false;
                    loader.load(db, &access, rows, &plan)
                })
            });
            loaded.map(|loaded| (loaded, shared))
        };
        let (mut loaded, mut shared) = with_feeds(cx, &self.rest.renderer, load).await?;
        let measure = async |part: Context| attachment::measure(&part, &self.site, &mut loaded, &plan).await;
        let (measured, of_files) = cx.scope(measure).await;
        measured?;
        shared.extend(&of_files);
        let mut loaded: HashMap<PostId, LoadedPost> =
            loaded.into_iter().map(|post| (post.item.post.id, post)).collect();
        let mut items = Vec::with_capacity(ids.len());
        for id in ids {
            let post = loaded.remove(&id);
            let prepare = async |part: Context| {
                part.record(&shared);
                rows::POSTS.depend_on(&part, [id.0]);
                match post.map(|post| post.with_cx(&part)) {
                    Some(post) => self.prepare_one(&req.clone().with_cx(part), view, &plan, post).await.map(Some),
                    None => Ok(None),
                }
            };
            let (content, dependencies) = cx.scope(prepare).await;
            items.push(PreparedItem { id: id.0, content: content?, dependencies: Some(dependencies) });
        }
        Ok(items)
    }

    async fn prepare_one(
        &self,
        req: &Request,
        view: &View,
        plan: &PostPlan<'_>,
        LoadedPost { item, links }: LoadedPost,
    ) -> Result<(Map, Option<Links>)> {
        item.record_dependencies();
        let mut data = plan.prepare(&item);
        self.add_blocks(&mut data, &item, req, view)?;
        Ok((self.finish(item.post.id, data, req, view).await?, links))
    }
}

/// Moves sticky posts to the top of the first page: first those that are on it, then the others, newest first.
fn prepend_sticky(db: &mut Db, query: &PostQuery, sticky: &[PostId], ids: &mut Vec<PostId>) -> SiteResult<()> {
    let (mut top, rest): (Vec<PostId>, Vec<PostId>) = ids.iter().partition(|id| sticky.contains(id));
    let missing: Vec<PostId> =
        sticky.iter().filter(|id| !top.contains(id) && !query.exclude.contains(id)).copied().collect();
    if !missing.is_empty() {
        let others = PostQuery::default()
            .include(missing)
            .post_types(query.post_types.clone())
            // The languages: such a page has no other condition on terms.
            .tax(query.tax.clone())
            .extra_tax(query.extra_tax.clone())
            .statuses(vec!["publish".to_owned()]);
        top.extend(posts::query(db, &others)?.ids);
    }
    top.extend(rest);
    *ids = top;
    Ok(())
}

/// Whether the URL has page numbers of query blocks.
fn has_block_pages(req: &Request) -> bool {
    req.params().query.keys().any(|name| name.starts_with("query-"))
}
