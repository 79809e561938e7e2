//! Reads that this server handles.

use std::collections::HashSet;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    response::{IntoResponse as _, Response},
};
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Map, Value};
use svc_gateway::ErrorFormat;

use super::{Gateway, ownership::Viewer, request::ApiRequest, writes::is_away};

impl Gateway {
    /// Handles a read. WordPress handles it if this server does not succeed, or would embed something that it does not own.
    pub(super) async fn handle_read(&self, api: ApiRequest, viewer: Viewer, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        if !http_body::Body::is_end_stream(&body) {
            return self.forward(Request::from_parts(parts, body), ErrorFormat::Json).await;
        }
        let again = parts.clone();
        let respond = self.0.sides.service.respond(api.route.clone(), Request::from_parts(parts, Body::empty()));
        let Ok(response) = tokio::time::timeout(self.0.timeout, respond).await else {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        };
        let status = response.status();
        let (head, body) = response.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let embeds = status == StatusCode::OK && api.query.contains_key("_embed") && again.method == Method::GET;
        let is_owned = match status {
            StatusCode::OK => !embeds || self.owns_links(&api, &body, viewer),
            // Limits of this server hold for both.
            StatusCode::NOT_MODIFIED | StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => true,
            _ => false,
        };
        if !is_owned {
            let response = self.forward(Request::from_parts(again, Body::empty()), ErrorFormat::Json).await;
            // Without WordPress, an error of this server is more useful than none.
            if !(is_away(response.status()) && status.is_client_error()) {
                return response;
            }
        } else if status == StatusCode::OK && again.method == Method::GET {
            self.0.shadow.observe(&self.0.sides, &api, viewer, &again);
        }
        Response::from_parts(head, Body::new(Full::new(body)))
    }

    /// Forwards a read that this server would handle if its route were not refuted, and compares it if it is in the share.
    pub(super) async fn handle_refuted(&self, api: ApiRequest, viewer: Viewer, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let again = parts.clone();
        let response = self.forward(Request::from_parts(parts, body), ErrorFormat::Json).await;
        if response.status() == StatusCode::OK && again.method == Method::GET {
            self.0.shadow.observe(&self.0.sides, &api, viewer, &again);
        }
        response
    }

    /// Whether this server owns all routes whose responses are embedded in a document.
    fn owns_links(&self, api: &ApiRequest, body: &Bytes, viewer: Viewer) -> bool {
        let Ok(document) = serde_json::from_slice::<Value>(body) else { return false };
        let items: Vec<&Value> = match &document {
            Value::Array(list) => list.iter().collect(),
            item => vec![item],
        };
        let links = items.into_iter().filter_map(|item| item["_links"].as_object()).flat_map(Map::values);
        let mut seen = HashSet::new();
        links.filter_map(Value::as_array).flatten().filter(|link| link["embeddable"] == true).all(|link| {
            let Some(url) = link["href"].as_str() else { return false };
            let Some((route, query)) = api.server.route_of(url) else { return true };
            let known = api.server.endpoint_for(&Method::GET, &route).map(|(entry, _)| entry.pattern().to_owned());
            // Links to one route that differ in values only need one check.
            let key = (known, query.keys().cloned().collect::<Vec<_>>());
            !seen.insert(key) || self.owns(&api.server, &Method::GET, &route, &query, viewer).is_ok()
        })
    }
}
