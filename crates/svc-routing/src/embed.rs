//! `_embed`: the targets of a response's links, fetched in process.

use std::collections::HashMap;

use serde_json::{Value, json};
use svc_schema::Embed;

use crate::{Map, Request, Server};

/// The most requests that are made inside requests: a batch that holds an embed.
pub const MAX_DEPTH: u8 = 4;
/// The most targets that one response fetches; links beyond are left alone.
const MAX_TARGETS: usize = 2000;

/// Embeds the targets of the data's links: of each item, when the data is a list.
pub(crate) async fn embed(server: &Server, req: &Request, mut data: Value, wanted: &Embed) -> Value {
    let mut fetched = HashMap::new();
    match &mut data {
        Value::Array(items) => {
            for item in items {
                embed_one(server, req, item, wanted, &mut fetched).await;
            }
        }
        item => embed_one(server, req, item, wanted, &mut fetched).await,
    }
    data
}

/// `fetched` holds what was fetched for this response already, by address.
async fn embed_one(
    server: &Server,
    req: &Request,
    item: &mut Value,
    wanted: &Embed,
    fetched: &mut HashMap<String, Value>,
) {
    let Some(item) = item.as_object_mut() else { return };
    let Some(Value::Object(links)) = item.get("_links") else { return };
    let mut embedded = Map::new();
    for (rel, targets) in links.iter().filter(|(rel, _)| wanted.includes(rel)) {
        let (mut values, mut any) = (Vec::new(), false);
        for target in targets.as_array().into_iter().flatten() {
            let address = target
                .get("href")
                .and_then(Value::as_str)
                .filter(|_| target.get("embeddable").is_some_and(svc_php::cast::truthy));
            let value = match address {
                Some(address) => fetch(server, req, address, fetched).await,
                None => None,
            };
            // An empty list is nothing to embed.
            any |= value.as_ref().is_some_and(|v| v.as_array().is_none_or(|list| !list.is_empty()));
            // What cannot be embedded keeps its place among the targets.
            values.push(value.unwrap_or_else(|| json!([])));
        }
        if any {
            embedded.insert(rel.clone(), values.into());
        }
    }
    if !embedded.is_empty() {
        item.insert("_embedded".to_owned(), embedded.into());
    }
}

/// The target's data, with its links. `None` when the address is not of this interface, or a bound is reached.
async fn fetch(server: &Server, req: &Request, address: &str, fetched: &mut HashMap<String, Value>) -> Option<Value> {
    if let Some(value) = fetched.get(address) {
        return Some(value.clone());
    }
    if fetched.len() >= MAX_TARGETS || req.depth() >= MAX_DEPTH {
        return None;
    }
    let (route, query) = server.route_of(address)?;
    let mut sub = req.sub_request(http::Method::GET, route).with_query(query);
    if sub.param("context").is_none_or(|context| !svc_php::cast::truthy(context)) {
        sub = sub.with_param("context", "embed");
    }
    if sub.param("per_page").is_none_or(|n| !svc_php::cast::truthy(n))
        && let Some(most) = server.most_per_page(&sub)
    {
        sub = sub.with_param("per_page", most);
    }
    let res = server.dispatch(sub.clone()).await;
    // Boxed, since the type of this future is part of that one.
    let value = Box::pin(server.to_data(res, None, &sub)).await;
    fetched.insert(address.to_owned(), value.clone());
    Some(value)
}
