//! `_embed`: dispatches the targets of a response's links in process.

use std::collections::HashMap;

use serde_json::{Value, json};
use svc_schema::Embed;

use super::{MAX_DEPTH, Server};
use crate::{Map, Request};

/// Maximum number of targets fetched for one response. Further links are not embedded.
const MAX_TARGETS: usize = 2000;

/// Embeds the targets of the data's links; those of each item if the data is a list.
pub(super) async fn embed(server: &Server, req: &Request, mut data: Value, relations: &Embed) -> Value {
    let mut fetched = HashMap::new();
    match &mut data {
        Value::Array(items) => {
            for item in items {
                embed_one(server, req, item, relations, &mut fetched).await;
            }
        }
        item => embed_one(server, req, item, relations, &mut fetched).await,
    }
    data
}

/// `fetched` contains the targets that were already fetched for this response, by URL.
async fn embed_one(
    server: &Server,
    req: &Request,
    item: &mut Value,
    relations: &Embed,
    fetched: &mut HashMap<String, Value>,
) {
    let Some(item) = item.as_object_mut() else { return };
    let Some(Value::Object(links)) = item.get("_links") else { return };
    let mut embedded = Map::new();
    for (rel, targets) in links.iter().filter(|(rel, _)| relations.includes(rel)) {
        let (mut values, mut has_content) = (Vec::new(), false);
        for target in targets.as_array().into_iter().flatten() {
            let url = target
                .get("href")
                .and_then(Value::as_str)
                .filter(|_| target.get("embeddable").is_some_and(svc_php::cast::truthy));
            let value = match url {
                Some(url) => fetch(server, req, url, fetched).await,
                None => None,
            };
            // An empty list is not worth embedding.
            has_content |= value.as_ref().is_some_and(|v| v.as_array().is_none_or(|list| !list.is_empty()));
            // A target that cannot be embedded keeps its position.
            values.push(value.unwrap_or_else(|| json!([])));
        }
        if has_content {
            embedded.insert(rel.clone(), values.into());
        }
    }
    if !embedded.is_empty() {
        item.insert("_embedded".to_owned(), embedded.into());
    }
}

/// The target's data, with its links. `None` if the URL does not belong to the API, or a limit is reached.
async fn fetch(server: &Server, req: &Request, url: &str, fetched: &mut HashMap<String, Value>) -> Option<Value> {
    if let Some(value) = fetched.get(url) {
        return Some(value.clone());
    }
    if fetched.len() >= MAX_TARGETS || req.depth() >= MAX_DEPTH {
        return None;
    }
    let (route, query) = server.route_of(url)?;
    let mut sub = req.sub_request(http::Method::GET, route).with_query(query);
    if sub.param("context").is_none_or(|context| !svc_php::cast::truthy(context)) {
        sub = sub.with_param("context", "embed");
    }
    if sub.param("per_page").is_none_or(|n| !svc_php::cast::truthy(n))
        && let Some(max) = server.max_per_page(&sub)
    {
        sub = sub.with_param("per_page", max);
    }
    let res = server.dispatch(sub.clone()).await;
    // Boxed, because this future's type is part of that one.
    let value = Box::pin(server.to_data(res, None, &sub)).await;
    fetched.insert(url.to_owned(), value.clone());
    Some(value)
}
