//! `_embed`: dispatches the targets of a response's links in process.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::Value;
use svc_schema::Embed;

use super::cached::CachedKind;
use super::{MAX_DEPTH, Server};
use crate::messages::embeddable_url;
use crate::{Encoded, EncodedItem, Map, Request};

/// Maximum number of targets fetched for one response. Further links are not embedded.
const MAX_TARGETS: usize = 2000;

/// The JSON of a target that cannot be embedded. An empty list is not worth embedding either.
const NOTHING: &[u8] = b"[]";

/// Embeds the targets of the data's links; those of each item if the data is a list.
pub(super) async fn embed(server: &Server, req: &Request, mut data: Value, relations: &Embed) -> Value {
    let mut embedding = Embedding { server, req, fetched: HashMap::new() };
    match &mut data {
        Value::Array(items) => {
            for item in items {
                embedding.add_to(item, relations).await;
            }
        }
        item => embedding.add_to(item, relations).await,
    }
    data
}

impl Server {
    /// The JSON of encoded data, with the targets of the `wanted` relations embedded.
    pub(super) async fn embed_encoded(&self, data: &Encoded, wanted: Option<&Embed>, req: &Request) -> Bytes {
        let Some(wanted) = wanted else { return data.json() };
        let mut embedding = Embedding { server: self, req, fetched: HashMap::new() };
        for url in data.items().iter().flat_map(|item| item.embeddable_urls(wanted)) {
            embedding.fetch(url).await;
        }
        data.json_with(|item, out| embedding.append_to(item, wanted, out))
    }
}

impl EncodedItem {
    fn embeddable_urls<'i>(&'i self, wanted: &'i Embed) -> impl Iterator<Item = &'i str> {
        let relations = self.relations().iter().filter(|relation| wanted.includes(&relation.name));
        relations.flat_map(|relation| &relation.targets).flatten().map(String::as_str)
    }
}

/// The targets that were fetched for a response.
struct Embedding<'a> {
    server: &'a Server,
    req: &'a Request,
    /// By URL; `None` for URLs that cannot be embedded.
    fetched: HashMap<String, Option<EncodedItem>>,
}

impl Embedding<'_> {
    async fn add_to(&mut self, item: &mut Value, relations: &Embed) {
        let Some(item) = item.as_object_mut() else { return };
        let Some(Value::Object(links)) = item.get("_links") else { return };
        let mut embedded = Map::new();
        for (rel, targets) in links.iter().filter(|(rel, _)| relations.includes(rel)) {
            let (mut values, mut has_content) = (Vec::new(), false);
            for target in targets.as_array().into_iter().flatten() {
                let value = match embeddable_url(target) {
                    Some(url) => self.fetch(&url).await,
                    None => None,
                };
                has_content |= value.as_ref().is_some_and(|value| value.json() != NOTHING);
                // A target that cannot be embedded has a position, too.
                values.push(value.map_or_else(|| Value::Array(Vec::new()), |value| Encoded::Item(value).to_value()));
            }
            if has_content {
                embedded.insert(rel.clone(), values.into());
            }
        }
        if !embedded.is_empty() {
            item.insert("_embedded".to_owned(), embedded.into());
        }
    }

    /// Appends the fetched targets of an item to its JSON.
    fn append_to(&self, item: &EncodedItem, wanted: &Embed, out: &mut Vec<u8>) {
        let json_of = |url: &Option<String>| self.fetched.get(url.as_ref()?)?.as_ref().map(|item| &item.json()[..]);
        let has_content = |url| json_of(url).is_some_and(|json| json != NOTHING);
        let relations = item.relations().iter().filter(|relation| wanted.includes(&relation.name));
        let mut before = &b",\"_embedded\":{"[..];
        for relation in relations.filter(|relation| relation.targets.iter().any(has_content)) {
            out.extend_from_slice(before);
            before = b",";
            out.extend_from_slice(svc_php::json::compact(&relation.name.as_str().into()).as_bytes());
            out.extend_from_slice(b":[");
            for (idx, url) in relation.targets.iter().enumerate() {
                if idx > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(json_of(url).unwrap_or(NOTHING));
            }
            out.push(b']');
        }
        if before == b"," {
            out.push(b'}');
        }
    }

    /// The target's data, with its links. `None` if the URL does not belong to the API, or a limit is reached.
    async fn fetch(&mut self, url: &str) -> Option<EncodedItem> {
        if let Some(fetched) = self.fetched.get(url) {
            return fetched.clone();
        }
        if self.fetched.len() >= MAX_TARGETS || self.req.depth() >= MAX_DEPTH {
            return None;
        }
        let caller = self.req.caller_key().filter(|_| self.server.frozen().cacheable);
        let fetch = |part| self.server.fetch_target(self.req.clone().with_cx(part), url);
        let item = self.server.cached(self.req.cx(), CachedKind::Embedded, caller, url, fetch).await;
        self.fetched.insert(url.to_owned(), item.clone());
        item
    }
}

impl Server {
    /// The data of a link's target, and whether it may be cached.
    async fn fetch_target(&self, req: Request, url: &str) -> (Option<EncodedItem>, bool) {
        let Some((route, query)) = self.route_of(url) else { return (None, false) };
        let mut sub = req.sub_request(http::Method::GET, route).with_query(query).with_own_mark();
        if sub.param("context").is_none_or(|context| !svc_php::cast::truthy(context)) {
            sub = sub.with_param("context", "embed");
        }
        if sub.param("per_page").is_none_or(|n| !svc_php::cast::truthy(n))
            && let Some(max) = self.max_per_page(&sub)
        {
            sub = sub.with_param("per_page", max);
        }
        let sub = sub.with_encoded(!self.hooks().can_change_data());
        let mut res = self.dispatch(sub.clone()).await;
        let is_cacheable = !sub.is_uncacheable() && !res.status.is_server_error();
        if !is_cacheable {
            req.mark_uncacheable();
        }
        let item = match res.encoded.take() {
            Some(Encoded::Item(item)) => Some(item),
            encoded => {
                res.encoded = encoded;
                // Boxed, because this future's type is part of that one.
                let value = Box::pin(self.to_data(res, None, &sub)).await;
                Some(EncodedItem::new(&value))
            }
        };
        (item, is_cacheable)
    }
}
