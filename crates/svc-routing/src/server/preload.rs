//! Preloading: responses that a page includes, so that its scripts need not request them.

use http::{Method, StatusCode};
use serde_json::json;
use svc_schema::parse_embed;

use super::Server;
use crate::{Map, Request};

impl Server {
    /// Preloads paths that a page is going to request. Returns a map from path to `{body, headers}`; entries of
    /// `OPTIONS` requests are nested under `OPTIONS`. All requests have the caller of `caller`. Each path is requested
    /// once, with `GET` unless `OPTIONS` is given, so preloading changes nothing. Responses other than 200 are omitted.
    pub async fn preload(&self, paths: &[(Method, &str)], caller: &Request) -> Map {
        let caller = self.attach_server(caller.clone());
        let mut out = Map::new();
        for (method, path) in paths {
            let options = *method == Method::OPTIONS;
            if path.is_empty() {
                continue;
            }
            let path = path.trim_end_matches('/');
            let (route, query) = path.split_once('?').map_or((path, None), |(route, query)| (route, Some(query)));
            let route = match route.trim_end_matches('/') {
                "" => "/",
                route => route,
            };
            let key = &query.map_or(route.to_owned(), |query| format!("{route}?{query}"));
            let existing = if options { out.get("OPTIONS").and_then(|nested| nested.get(key)) } else { out.get(key) };
            if existing.is_some() {
                continue;
            }
            let method = if options { Method::OPTIONS } else { Method::GET };
            let req = caller.sub_request(method, route).with_query_string(query.unwrap_or_default());
            let res = self.dispatch(req.clone()).await;
            if res.status != StatusCode::OK {
                continue;
            }
            let headers = res.headers.to_value();
            let wanted = req.params().query.get("_embed").and_then(|value| parse_embed(value).ok());
            let entry = json!({ "body": self.to_data(res, wanted.as_ref(), &req).await, "headers": headers });
            if options {
                let nested = out.entry("OPTIONS").or_insert_with(|| json!({}));
                nested[key] = entry;
            } else {
                out.insert(key.to_owned(), entry);
            }
        }
        out
    }
}
