//! Lists of posts from cached items.

use std::collections::HashMap;

use svc_auth::Caller;
use svc_model::PostId;
use svc_render::feeds::{MissingFeeds, with_feeds};
use svc_resource::View;
use svc_routing::{Encoded, EncodedItem, Request, Response, Result};
use svc_store::{Rows, posts};
use svc_versions::{Dependencies, capture, record, scope, unrecorded};

use super::{LoadedPost, Posts, query_password};
use crate::{
    caller, collection,
    item_cache::{CacheAccess, CachedPage, CallerKey, ViewKey},
    respond,
};

impl Posts {
    /// The cache, if items of this request can be cached.
    pub(super) fn cache_for(&self, req: &Request) -> Option<CacheAccess<'_>> {
        // The sizes of attachments' files are not in the database.
        let is_cacheable = self.post_type.name != "attachment"
            && self.extra.are_cacheable_for(&self.post_type.name)
            && query_password(req).is_empty()
            && !req.is_head();
        let stamp = if is_cacheable { self.site.store.stamp()? } else { return None };
        Some(CacheAccess { cache: &self.site.item_cache, versions: self.site.store.versions(), stamp })
    }

    /// The response to a list request, from cached items.
    pub(super) async fn cached_list(&self, req: &Request, cache: CacheAccess<'_>) -> Result<Response> {
        let (caller, view) = (caller(req), respond::view(req));
        let caller_key = CallerKey::of(&caller);
        let page = cache.page(self.family, caller_key, self.list_params(req), || self.load_page(req, &caller))?;
        page.paging.check("rest_post_invalid_page_number")?;
        let items = self.encoded_items(req, &caller, caller_key, &view, cache, &page.ids).await?;
        let url = self.site.settings()?.urls.rest(&self.site.route_of_type(&self.post_type));
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
        let items = self.encoded_items(req, &caller, CallerKey::of(&caller), view, cache, &[id.0]).await?;
        Ok(items.into_iter().next().map(|item| Response::encoded(Encoded::Item(item))))
    }

    fn load_page(&self, req: &Request, caller: &Caller) -> Result<CachedPage> {
        let list = self.params.read(|name| req.param(name).cloned())?;
        self.site.read(|db| {
            let settings = self.site.settings_in(db)?;
            let (ids, paging) = self.find_page(db, list, &settings, caller)?;
            Ok(CachedPage { ids: ids.into_iter().map(|id| id.0).collect(), paging })
        })
    }

    /// The parameters that the ids on the page depend on, in the order of the table.
    fn list_params(&self, req: &Request) -> String {
        let mut out = String::new();
        for name in self.params.names().filter(|name| *name != "context") {
            if let Some(value) = req.sent_param(name) {
                out.push_str(&format!("{name}={value}\n"));
            }
        }
        out
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
        let mut found: HashMap<i64, Option<EncodedItem>> = HashMap::with_capacity(ids.len());
        let mut missing = Vec::new();
        for id in ids {
            match cache.item(&key, *id) {
                Some(item) => drop(found.insert(*id, item)),
                None => missing.push(PostId(*id)),
            }
        }
        if !missing.is_empty() {
            for (id, item, dependencies) in self.encode(req, caller, view, cache, &missing).await? {
                if let Some(dependencies) = dependencies {
                    cache.insert_item(&key, id.0, item.clone(), dependencies);
                }
                found.insert(id.0, item);
            }
        }
        Ok(ids.iter().filter_map(|id| found.get(id).cloned().flatten()).collect())
    }

    /// Encodes posts, and determines what each item depends on. `None` for items that depend on more than the post, the view
    /// and the caller.
    async fn encode(
        &self,
        req: &Request,
        caller: &Caller,
        view: &View,
        cache: CacheAccess<'_>,
        ids: &[PostId],
    ) -> Result<Vec<(PostId, Option<EncodedItem>, Option<Dependencies>)>> {
        let plan = self.fields.plan(view);
        let load = |missing: &MissingFeeds| {
            let (loaded, shared) = capture(|| {
                self.site.read(|db| {
                    let settings = self.site.settings_in(db)?;
                    let rows = unrecorded(|| posts::get_many(db, ids))?;
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
        let (loaded, shared) = with_feeds(&self.site.renderer, load).await?;
        let mut loaded: HashMap<PostId, LoadedPost> =
            loaded.into_iter().map(|post| (post.item.post.id, post)).collect();
        let wants_texts = plan.wants_any(&["content", "excerpt"]);
        let mut items = Vec::with_capacity(ids.len());
        for id in ids {
            let post = loaded.remove(id);
            // Blocks may depend on the URL of the request, and shortcodes on other posts of the response.
            let is_separate = post.as_ref().is_none_or(|LoadedPost { item, .. }| {
                let is_dynamic = item.rendered.content.is_some() || item.rendered.excerpt.is_some();
                !(is_dynamic || wants_texts && item.has_shortcodes())
            });
            let encode = async {
                record(&shared);
                Rows::Posts.depend_on([id.0]);
                match post {
                    Some(post) => self.encode_one(req, view, &plan, post).await.map(Some),
                    None => Ok(None),
                }
            };
            let (item, dependencies) = scope(Some(cache.stamp), encode).await;
            items.push((*id, item?, is_separate.then_some(dependencies)));
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
        let mut data = respond::with_links(data, links, req);
        if let Some(fields) = &view.fields {
            data = fields.trim_item(data);
        }
        Ok(EncodedItem::new(&data))
    }
}
