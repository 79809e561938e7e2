//! Items and lists of a family, encoded once for each view and caller.
//!
//! A family finds the ids on a page and prepares items by id; this module decides which of both has to be done. Items that
//! are prepared together depend on the same. Responses that cannot be made of cached items are prepared as a whole.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use svc_resource::View;
use svc_routing::{CallerKey, Encoded, EncodedItem, ExtraFields, Links, Map, Request, Response, Result};
use svc_versions::Context;

use crate::{
    RestSite, caller,
    item_cache::{CacheAccess, CachedPage, FamilyId, NewItem, ViewKey, shared},
    request::key_of,
    respond,
};

/// An item with its id, and its links if they are requested.
pub(crate) type PreparedItem = (i64, Map, Option<Links>);

/// How a request reads the items of a family.
pub(crate) struct ItemReader<'r> {
    req: &'r Request,
    view: View,
    family: FamilyId,
    cache: Option<(CacheAccess<'r>, CallerKey, ViewKey)>,
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
        let cache = cache.map(|cache| {
            let caller = key_of(req, &caller(req));
            let key = ViewKey::new(family, caller, &view);
            (cache, caller, key)
        });
        ItemReader { req, view, family, cache }
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
            Some((cache, caller, _)) => {
                let find = async |part| find(self.of_part(part)).await;
                cache.page(self.family, *caller, sent_args(self.req), find).await
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
        let Some((cache, _, key)) = &self.cache else {
            let items = if ids.is_empty() { Vec::new() } else { prepare(self.req.clone(), ids).await? };
            let items = items.into_iter().map(|(_, item, links)| respond::with_links(item, links, self.req)).collect();
            return Ok(Response::new(Value::Array(items)));
        };
        let items = cache.items(key, ids, async |missing| self.encode(*cache, missing, prepare).await).await?;
        Ok(Response::encoded(Encoded::List(items)))
    }

    /// A response with one item; `None` if the caller does not see it.
    pub(crate) async fn item(
        &self,
        id: i64,
        prepare: impl AsyncFnOnce(Request, &[i64]) -> Result<Vec<PreparedItem>>,
    ) -> Result<Option<Response>> {
        match &self.cache {
            // Fields that are not selected are removed from values.
            Some((cache, _, key)) if self.req.takes_encoded() && self.view.fields.is_none() => {
                let items =
                    cache.items(key, &[id], async |missing| self.encode(*cache, missing, prepare).await).await?;
                Ok(items.into_iter().next().map(|item| Response::encoded(Encoded::Item(item))))
            }
            _ => Ok(prepare(self.req.clone(), &[id]).await?.pop().map(|(_, item, links)| respond::single(item, links))),
        }
    }

    /// A response that is not a list of items, encoded as a whole: `make` returns its data with links. `None` if it cannot be
    /// cached.
    pub(crate) async fn whole(&self, make: impl AsyncFnOnce(Request) -> Result<Value>) -> Result<Option<Response>> {
        let whole = self.cache.as_ref().filter(|_| self.req.takes_encoded() && self.view.fields.is_none());
        let Some((cache, _, key)) = whole else { return Ok(None) };
        let Some(key) = key.of_request(self.req.route(), &sent_args(self.req)) else { return Ok(None) };
        let encode = async |_: &[i64]| {
            let (data, dependencies) = cache.cx.scope(async |part| make(self.of_part(part)).await).await;
            Ok(vec![(0, Some(EncodedItem::new(&data?)), shared(cache.cx, dependencies))])
        };
        let items = cache.items(&key, &[0], encode).await?;
        Ok(items.into_iter().next().map(|item| Response::encoded(Encoded::Item(item))))
    }

    /// Prepares and encodes items together.
    async fn encode(
        &self,
        cache: CacheAccess<'_>,
        ids: &[i64],
        prepare: impl AsyncFnOnce(Request, &[i64]) -> Result<Vec<PreparedItem>>,
    ) -> Result<Vec<NewItem>> {
        let (prepared, dependencies) = cache.cx.scope(async |part| prepare(self.of_part(part), ids).await).await;
        let encode = |(id, item, links)| (id, encode(item, links, self.req, &self.view));
        let encoded: HashMap<i64, EncodedItem> = prepared?.into_iter().map(encode).collect();
        let dependencies = shared(cache.cx, dependencies);
        Ok(ids.iter().map(|id| (*id, encoded.get(id).cloned(), Arc::clone(&dependencies))).collect())
    }
}

/// Encodes an item of a list with its links and the requested fields.
pub(crate) fn encode(item: Map, links: Option<Links>, req: &Request, view: &View) -> EncodedItem {
    let data = respond::with_links(item, links, req);
    EncodedItem::new(&match &view.fields {
        Some(fields) => fields.trim_item(data),
        None => data,
    })
}

/// The arguments of the endpoint that the request contains, without the context.
pub(crate) fn sent_args(req: &Request) -> String {
    let mut out = String::new();
    for (name, value) in req.sent_args().into_iter().filter(|(name, _)| name != "context") {
        out.push_str(&format!("{name}={value}\n"));
    }
    out
}
