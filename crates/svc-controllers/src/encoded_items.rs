//! Items and lists of a family, encoded once for each view and caller.
//!
//! A family finds the ids on a page and prepares items by id; this module decides which of both has to be done. Items that
//! are prepared together depend on the same. Responses that cannot be made of cached items are prepared as a whole.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use svc_resource::View;
use svc_routing::{CallerKey, Encoded, EncodedItem, ExtraFields, Links, Map, Request, Response, Result};
use svc_versions::{Context, Dependencies};

use crate::{
    RestSite, caller,
    item_cache::{CacheAccess, CachedPage, FamilyId, NewItem, ViewKey, shared},
    request::key_of,
    respond,
};

/// An item that is ready to be encoded.
pub(crate) struct PreparedItem {
    /// The object's id.
    pub(crate) id: i64,
    /// Its data, and its links if they are requested; `None` if the caller does not see the object.
    pub(crate) content: Option<(Map, Option<Links>)>,
    /// What it depends on, if that is known; otherwise that is what all items depend on that are prepared together.
    pub(crate) dependencies: Option<Dependencies>,
}

impl PreparedItem {
    /// A response with the item alone, if the caller sees it.
    pub(crate) fn into_response(self) -> Option<Response> {
        self.content.map(|(data, links)| respond::single(data, links))
    }

    /// An item that depends on what the items depend on that are prepared together with it.
    pub(crate) fn new(id: i64, data: Map, links: Option<Links>) -> Self {
        PreparedItem { id, content: Some((data, links)), dependencies: None }
    }
}

/// How a request reads the items of a family.
pub(crate) struct ItemReader<'r> {
    req: &'r Request,
    view: View,
    cache: Option<FamilyCache<'r>>,
}

/// The item cache, as a request uses it for one family.
struct FamilyCache<'r> {
    access: CacheAccess<'r>,
    family: FamilyId,
    caller: CallerKey,
    key: ViewKey,
}

impl RestSite {
    /// The item cache, if responses can be made of cached items: if it is known what the additional fields of an object type
    /// depend on, and changes are observed.
    pub(crate) fn item_cache<'c>(
        &'c self,
        cx: &'c Context,
        extra: &ExtraFields,
        object: &str,
    ) -> Option<CacheAccess<'c>> {
        let stamp = if extra.are_cacheable_for(object) { self.site.store.stamp(cx)? } else { return None };
        Some(CacheAccess { cx, cache: &self.item_cache, versions: self.site.store.versions(), stamp })
    }
}

impl<'r> ItemReader<'r> {
    /// Reads the items of a family as the request selects them. Without a cache, they are prepared for each request.
    pub(crate) fn new(req: &'r Request, family: FamilyId, cache: Option<CacheAccess<'r>>) -> Self {
        let view = respond::view(req);
        let cache = cache.map(|access| {
            let caller = key_of(req, &caller(req));
            let key = ViewKey::new(family, caller, &view);
            FamilyCache { access, family, caller, key }
        });
        ItemReader { req, view, cache }
    }

    /// Prepares the items of a family for each request.
    pub(crate) fn uncached(req: &'r Request) -> Self {
        ItemReader { req, view: respond::view(req), cache: None }
    }

    /// The request with the context of a part of it.
    fn of_part(&self, part: Context) -> Request {
        self.req.clone().with_cx(part)
    }

    /// The view of the items.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// The ids on the page that the parameters of the request select.
    pub(crate) async fn page(&self, find: impl AsyncFnOnce(Request) -> Result<CachedPage>) -> Result<CachedPage> {
        match &self.cache {
            Some(cache) => {
                let find = async |part| find(self.of_part(part)).await;
                cache.access.page(cache.family, cache.caller, sent_args(self.req), find).await
            }
            None => find(self.req.clone()).await,
        }
    }

    /// A response with the items of these ids that the caller sees; empty for `HEAD`.
    pub(crate) async fn list(
        &self,
        ids: &[i64],
        prepare: impl AsyncFnOnce(Request, &[i64]) -> Result<Vec<PreparedItem>>,
    ) -> Result<Response> {
        if let Some(cache) = &self.cache {
            return Ok(Response::encoded(Encoded::List(self.encoded(cache, ids, prepare).await?)));
        }
        let items = if ids.is_empty() { Vec::new() } else { prepare(self.req.clone(), ids).await? };
        let seen = items.into_iter().filter_map(|item| item.content);
        let items = seen.map(|(data, links)| respond::with_links(data, links, self.req)).collect();
        Ok(Response::new(Value::Array(items)))
    }

    /// A response with one item; `None` if the caller does not see it.
    pub(crate) async fn item(
        &self,
        id: i64,
        prepare: impl AsyncFnOnce(Request, &[i64]) -> Result<Vec<PreparedItem>>,
    ) -> Result<Option<Response>> {
        if self.encodes_items() {
            return self.cached_item(id, prepare).await;
        }
        let prepared = prepare(self.req.clone(), &[id]).await?.pop();
        Ok(prepared.and_then(PreparedItem::into_response))
    }

    /// A response with one item from the cache; `None` if the caller does not see it, or the response cannot be made of a cached item.
    pub(crate) async fn cached_item(
        &self,
        id: i64,
        prepare: impl AsyncFnOnce(Request, &[i64]) -> Result<Vec<PreparedItem>>,
    ) -> Result<Option<Response>> {
        let Some(cache) = self.cache.as_ref().filter(|_| self.encodes_items()) else { return Ok(None) };
        let items = self.encoded(cache, &[id], prepare).await?;
        Ok(items.into_iter().next().map(|item| Response::encoded(Encoded::Item(item))))
    }

    /// Whether responses with one item are made of cached items. Fields that are not selected are removed from values.
    fn encodes_items(&self) -> bool {
        self.cache.is_some() && self.req.takes_encoded() && self.view.fields.is_none()
    }

    /// A response that is not a list of items, encoded as a whole: `make` returns its data with links. `None` if it cannot be
    /// cached.
    pub(crate) async fn whole(&self, make: impl AsyncFnOnce(Request) -> Result<Value>) -> Result<Option<Response>> {
        let Some(FamilyCache { access: cache, key, .. }) = self.cache.as_ref().filter(|_| self.encodes_items()) else {
            return Ok(None);
        };
        let Some(key) = key.of_request(self.req.route(), &sent_args(self.req)) else { return Ok(None) };
        let encode = async |_: &[i64]| {
            let (data, dependencies) = cache.cx.scope(async |part| make(self.of_part(part)).await).await;
            Ok(vec![(0, Some(EncodedItem::new(&data?)), shared(cache.cx, dependencies))])
        };
        let items = cache.items(&key, &[0], encode).await?;
        Ok(items.into_iter().next().map(|item| Response::encoded(Encoded::Item(item))))
    }

    /// The encoded items that the caller sees. Those that are not cached are prepared together.
    async fn encoded(
        &self,
        cache: &FamilyCache<'_>,
        ids: &[i64],
        prepare: impl AsyncFnOnce(Request, &[i64]) -> Result<Vec<PreparedItem>>,
    ) -> Result<Vec<EncodedItem>> {
        let cx = cache.access.cx;
        let encode = async |missing: &[i64]| {
            let (prepared, dependencies) = cx.scope(async |part| prepare(self.of_part(part), missing).await).await;
            let dependencies = shared(cx, dependencies);
            let mut prepared: HashMap<i64, PreparedItem> = prepared?.into_iter().map(|item| (item.id, item)).collect();
            let new = |id: &i64| {
                let Some(item) = prepared.remove(id) else { return (*id, None, Arc::clone(&dependencies)) };
                let encoded = item.content.map(|(data, links)| encode(data, links, self.req, &self.view));
                let own = item.dependencies.map(|own| shared(cx, own));
                (*id, encoded, own.unwrap_or_else(|| Arc::clone(&dependencies)))
            };
            Ok(missing.iter().map(new).collect::<Vec<NewItem>>())
        };
        cache.access.items(&cache.key, ids, encode).await
    }
}

/// Encodes an item of a list with its links and the requested fields.
fn encode(item: Map, links: Option<Links>, req: &Request, view: &View) -> EncodedItem {
    let data = respond::with_links(item, links, req);
    EncodedItem::new(&match &view.fields {
        Some(fields) => fields.trim_item(data),
        None => data,
    })
}

/// The arguments of the endpoint that the request contains, without the context.
fn sent_args(req: &Request) -> String {
    let mut out = String::new();
    for (name, value) in req.sent_args().into_iter().filter(|(name, _)| name != "context") {
        out.push_str(&format!("{name}={value}\n"));
    }
    out
}
