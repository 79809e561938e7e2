//! Lists of posts from cached items.

use std::collections::HashMap;

use svc_auth::Caller;
use svc_model::PostId;
use svc_render::feeds::{Missing, with_feeds};
use svc_resource::View;
use svc_routing::{CallerKey, Encoded, EncodedItem, Request, Response, Result};
use svc_store::{posts, rows};
use svc_versions::Context;

use super::{LoadedPost, Posts, attachment, query_password};
use crate::{
    caller, collection,
    encoded_items::{encode, sent_args},
    item_cache::{self, CacheAccess, CachedPage, NewItem, ViewKey},
    request::key_of,
    respond,
};

impl Posts {
    /// The cache, if items of this request can be cached.
    pub(super) fn cache_for<'r>(&'r self, req: &'r Request) -> Option<CacheAccess<'r>> {
        if !query_password(req).is_empty() || has_block_pages(req) {
            return None;
        }
        self.rest.item_cache(req.cx(), &self.extra, &self.post_type.name)
    }

    /// The response to a list request, from cached items.
    pub(super) async fn cached_list(&self, req: &Request, cache: CacheAccess<'_>) -> Result<Response> {
        let (caller, view) = (caller(req), respond::view(req));
        let caller_key = key_of(req, &caller);
        let page = cache
            .page(self.family, caller_key, sent_args(req), async |part: Context| self.load_page(&part, req, &caller))
            .await?;
        page.paging.check("rest_post_invalid_page_number")?;
        let items = self.encoded_items(req, &caller, caller_key, &view, cache, &page.ids).await?;
        let url = self.site.settings(req.cx())?.urls.rest(&self.site.route_of_type(&self.post_type));
        let response = Response::encoded(Encoded::List(items));
        Ok(collection::with_paging(&self.site, response, &page.paging, &url, req))
    }

    /// The response with one post, from a cached item. `None` if its data must not be encoded, or differs from that in lists.
    pub(super) async fn cached_post(
        &self,
        req: &Request,
        view: &View,
        cache: CacheAccess<'_>,
        id: PostId,
    ) -> Result<Option<Response>> {
        if !req.takes_encoded() || view.fields.is_some() || req.has_param("excerpt_length") {
            return Ok(None);
        }
        let caller = caller(req);
        let caller_key = key_of(req, &caller);
        let items = self.encoded_items(req, &caller, caller_key, view, cache, &[id.0]).await?;
        Ok(items.into_iter().next().map(|item| Response::encoded(Encoded::Item(item))))
    }

    fn load_page(&self, cx: &Context, req: &Request, caller: &Caller) -> Result<CachedPage> {
        let list = self.params.read(|name| req.param(name).cloned())?;
        self.site.read(cx, |db| {
            let settings = self.site.settings_in(db)?;
            let (ids, paging) = self.find_page(db, list, &settings, caller)?;
            Ok(CachedPage { ids: ids.into_iter().map(|id| id.0).collect(), paging })
        })
    }

    /// The encoded items of the posts that the caller may see. Those that are not cached are loaded together.
    pub(super) async fn encoded_items(
        &self,
        req: &Request,
        caller: &Caller,
        caller_key: CallerKey,
        view: &View,
        cache: CacheAccess<'_>,
        ids: &[i64],
    ) -> Result<Vec<EncodedItem>> {
        let key = ViewKey::new(self.family, caller_key, view);
        cache.items(&key, ids, async |missing| self.encode(req, caller, view, cache, missing).await).await
    }

    /// Encodes posts, and determines what each item depends on.
    async fn encode(
        &self,
        req: &Request,
        caller: &Caller,
        view: &View,
        cache: CacheAccess<'_>,
        ids: &[i64],
    ) -> Result<Vec<NewItem>> {
        let ids: Vec<PostId> = ids.iter().copied().map(PostId).collect();
        let (plan, cx) = (self.fields.plan(view), cache.cx);
        let load = |missing: &Missing| {
            let (loaded, shared) = cx.capture(|| {
                self.site.read(cx, |db| {
                    let settings = self.site.settings_in(db)?;
                    let rows = db.unrecorded(|db| posts::get_many(db, &ids))?;
                    let (access, rows) = self.visible(db, &settings, req, caller, rows)?;
                    let mut loader = self.loader(&settings, caller, view);
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
        for id in &ids {
            let post = loaded.remove(id);
            let encoded = async |part: Context| {
                part.record(&shared);
                rows::POSTS.depend_on(&part, [id.0]);
                match post.map(|post| post.with_cx(&part)) {
                    Some(post) => self.encode_one(req, view, &plan, post).await.map(Some),
                    None => Ok(None),
                }
            };
            let (item, dependencies) = cx.scope(encoded).await;
            items.push((id.0, item?, item_cache::shared(cx, dependencies)));
        }
        Ok(items)
    }

    async fn encode_one(
        &self,
        req: &Request,
        view: &View,
        plan: &super::fields::PostPlan<'_>,
        LoadedPost { item, links }: LoadedPost,
    ) -> Result<EncodedItem> {
        item.record_dependencies();
        let data = self.finish(item.post.id, plan.prepare(&item), req, view).await?;
        Ok(encode(data, links, req, view))
    }
}

/// Whether the URL has page numbers of query blocks. Items are cached for URLs without.
fn has_block_pages(req: &Request) -> bool {
    req.params().query.keys().any(|name| name.starts_with("query-"))
}
