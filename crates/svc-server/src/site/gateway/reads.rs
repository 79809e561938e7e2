//! Reads that this server handles.

use std::{collections::HashSet, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, StatusCode, header::ETAG};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Map, Value};
use svc_gateway::ErrorFormat;
use svc_routing::Server;

use super::{Gateway, request::ApiRequest};

impl Gateway {
    /// Handles a read. WordPress handles it if this server does not succeed, or would embed something that it does not own.
    pub(super) async fn handle_read(&self, api: ApiRequest, request: Request) -> Response {
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
            StatusCode::OK => !embeds || self.owns_links(&api, &head.headers, &body),
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
            self.0.shadow.observe(&self.0.sides, &api, &again);
        }
        Response::from_parts(head, Body::new(Full::new(body)))
    }

    /// Forwards a read that this server would handle if its route were not refuted, and compares it if it is in the share.
    pub(super) async fn handle_refuted(&self, api: ApiRequest, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let again = parts.clone();
        let response = self.forward(Request::from_parts(parts, body), ErrorFormat::Json).await;
        if response.status() == StatusCode::OK && again.method == Method::GET {
            self.0.shadow.observe(&self.0.sides, &api, &again);
        }
        response
    }

    /// Whether this server owns all routes whose responses are embedded in a document.
    fn owns_links(&self, api: &ApiRequest, headers: &HeaderMap, body: &Bytes) -> bool {
        let links = match headers.get(ETAG) {
            // Bodies with equal entity tags are equal, and reading one takes longer than the request.
            Some(etag) => self.0.embedded.get_or_insert_with(etag, || embedded(&api.server, body).ok_or(())).ok(),
            None => embedded(&api.server, body),
        };
        links.is_some_and(|links| {
            let mut links = links.iter();
            links.all(|(route, query)| self.owns(&api.server, &Method::GET, route, query).is_ok())
        })
    }
}

/// Whether WordPress did not respond, according to a status.
fn is_away(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE)
}

/// Routes with parameters.
pub(super) type Links = Arc<[(String, Map<String, Value>)]>;

/// The links of a document that are embedded. Of links to one route that differ in values only, the first. `None` if it is not JSON.
fn embedded(server: &Server, body: &Bytes) -> Option<Links> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let items: Vec<&Value> = match &document {
        Value::Array(list) => list.iter().collect(),
        item => vec![item],
    };
    let links = items.into_iter().filter_map(|item| item["_links"].as_object()).flat_map(Map::values);
    let links = links.filter_map(Value::as_array).flatten().filter(|link| link["embeddable"] == true);
    let routes = links.filter_map(|link| server.route_of(link["href"].as_str()?));
    let mut seen = HashSet::new();
    let is_new = |(route, query): &(String, Map<String, Value>)| {
        let known = server.endpoint_for(&Method::GET, route).map(|(entry, _)| entry.pattern().to_owned());
        seen.insert((known, query.keys().cloned().collect::<Vec<_>>()))
    };
    Some(routes.filter(is_new).collect())
}
