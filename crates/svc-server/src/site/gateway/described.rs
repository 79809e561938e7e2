//! Requests for descriptions: indexes and `OPTIONS`.

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    response::{IntoResponse as _, Response},
};
use futures_util::StreamExt as _;
use http::{Method, StatusCode, header::CONTENT_LENGTH, request::Parts};
use http_body_util::BodyExt as _;
use serde_json::Value;
use svc_gateway::ErrorFormat;

use super::{
    Gateway,
    descriptions::{MAX_BODY, merge, selected, without_encoding},
    request::ApiRequest,
};
use crate::config::{Reads, Side};

impl Gateway {
    /// WordPress's description, from the cache if it is valid, with the routes that only this server handles.
    pub(super) async fn describe(&self, api: ApiRequest, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let is_plain = http_body::Body::is_end_stream(&body) && matches!(parts.method, Method::GET | Method::OPTIONS);
        if !is_plain {
            return self.forward(Request::from_parts(parts, body), ErrorFormat::Json).await;
        }
        let key = self.0.descriptions.key(&api, &parts, &self.0.nonce_header).await;
        if let Some(response) = key.as_ref().and_then(|key| self.0.descriptions.get(key)) {
            return response;
        }
        let has_routes = self.0.config.reads == Reads::All(Side::Svc) || !self.0.config.svc_routes.is_empty();
        if key.is_none() && !has_routes {
            return self.forward(Request::from_parts(parts, Body::empty()), ErrorFormat::Json).await;
        }
        let request = if key.is_some() { selected(parts.clone()) } else { without_encoding(parts.clone()) };
        let response = self.forward(request, ErrorFormat::Json).await;
        if has_routes && response.status() == StatusCode::NOT_FOUND && self.is_only_here(&api, &parts) {
            let own = self.0.sides.service.respond(api.route, Request::from_parts(parts, Body::empty())).await;
            return own.map(Body::new);
        }
        let (mut head, body) = response.into_parts();
        let mut body = match read_some(body, MAX_BODY).await {
            Ok((body, None)) => body,
            Ok((start, Some(rest))) => return Response::from_parts(head, prepend(start, rest)),
            Err(response) => return response,
        };
        if has_routes
            && head.status == StatusCode::OK
            && api.is_index()
            && let Some(merged) = self.merged(&api, &parts, &body).await
        {
            body = merged;
            head.headers.remove(CONTENT_LENGTH);
        }
        if let Some(key) = key {
            self.0.descriptions.insert(key, &head, &body).await;
        }
        Response::from_parts(head, Body::from(body))
    }

    /// Whether the configuration lets this server handle the route that a request describes.
    fn is_only_here(&self, api: &ApiRequest, parts: &Parts) -> bool {
        let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        match parts.method {
            Method::OPTIONS => methods.iter().any(|method| {
                api.server.endpoint_for(method, &api.route).is_some() && self.is_configured(method, &api.route)
            }),
            _ => {
                let below = format!("{}/", api.route.trim_end_matches('/'));
                let mut patterns = api.server.routes().map(svc_routing::RouteEntry::pattern);
                patterns.any(|pattern| {
                    pattern.starts_with(&below) && methods.iter().any(|method| self.is_configured(method, pattern))
                })
            }
        }
    }

    /// An index of WordPress with the routes that only this server handles; `None` if there are none.
    async fn merged(&self, api: &ApiRequest, parts: &Parts, body: &Bytes) -> Option<Bytes> {
        let mut index: Value = serde_json::from_slice(body).ok()?;
        let mut parts = parts.clone();
        parts.headers.remove(http::header::ACCEPT_ENCODING);
        let own = self.0.sides.service.respond(api.route.clone(), Request::from_parts(parts, Body::empty())).await;
        let own = own.into_body().collect().await.ok()?.to_bytes();
        let own: Value = serde_json::from_slice(&own).ok()?;
        let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        let is_added = |pattern: &str| methods.iter().any(|method| self.is_configured(method, pattern));
        (merge(&mut index, &own, is_added) > 0).then(|| Bytes::from(index.to_string()))
    }
}

/// Reads a body of at most this many bytes. Of a larger one, returns what was read and the rest.
async fn read_some(mut body: Body, limit: usize) -> Result<(Bytes, Option<Body>), Response> {
    if http_body::Body::size_hint(&body).upper().is_some_and(|size| size <= limit as u64) {
        let read = to_bytes(body, limit).await;
        return read.map(|bytes| (bytes, None)).map_err(|_| StatusCode::BAD_GATEWAY.into_response());
    }
    let mut read = Vec::new();
    while read.len() <= limit {
        match body.frame().await {
            None => return Ok((read.into(), None)),
            Some(Ok(frame)) => read.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(_)) => return Err(StatusCode::BAD_GATEWAY.into_response()),
        }
    }
    Ok((read.into(), Some(body)))
}

/// A body with this beginning.
fn prepend(start: Bytes, rest: Body) -> Body {
    let start = futures_util::stream::once(std::future::ready(Ok::<_, axum::Error>(start)));
    Body::from_stream(start.chain(rest.into_data_stream()))
}
