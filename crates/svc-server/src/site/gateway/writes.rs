//! Writes whose bodies decide which server handles them.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{Method, StatusCode, request::Parts};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value};
use svc_gateway::ErrorFormat;
use svc_store::request_cache::Writes;

use super::{
    BATCH, Gateway,
    ownership::Viewer,
    request::{ApiRequest, BodyKind, batch_parts, unknown_name, viewer},
};
use crate::actions::{Begun, NotBegun};

/// Maximum size of a body that is read to find out which server handles it. WordPress handles requests with larger ones.
const INSPECTED: usize = 1 << 20;

impl Gateway {
    /// Handles a write whose body decides which server handles it.
    pub(super) async fn handle_write(&self, api: ApiRequest, kind: BodyKind, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let (read, rest) = match kind {
            BodyKind::File => (Bytes::new(), Some(body)),
            _ => match read_some(body, INSPECTED).await {
                Ok(read) => read,
                Err(response) => return response,
            },
        };
        let is_whole = matches!(kind, BodyKind::File) || rest.is_none();
        let params = kind.params(&read).filter(|params| is_whole && self.owns_body(&api, &parts, params));
        let begun = match params {
            Some(params) => self.begin(&api, &parts, params).await,
            None => None,
        };
        // A streamed body can be sent once.
        let again = rest.is_none().then(|| (parts.clone(), read.clone()));
        let body = match rest {
            None => Body::from(read),
            Some(rest) => prepend(read, rest),
        };
        let mut request = Request::from_parts(parts, body);
        let Some(actions) = begun else { return self.forward(request, ErrorFormat::Json).await };
        let writes = Writes::default();
        request.extensions_mut().insert(writes.clone());
        let respond = self.0.sides.service.respond(api.route, request);
        let Ok(response) = tokio::time::timeout(self.0.timeout, respond).await else {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        };
        if let Some(actions) = actions {
            let user = response.extensions().get().copied();
            actions.end(response.status(), response.headers(), user, writes.have_begun());
        }
        match again {
            // Values that this server does not know may be valid in WordPress. A write of several steps may fail after the first
            // one, as in WordPress, and must not run twice.
            Some((parts, read)) if is_rejected(response.status()) && !writes.have_begun() => {
                let forwarded = self.forward(Request::from_parts(parts, Body::from(read)), ErrorFormat::Json).await;
                if is_away(forwarded.status()) { response.map(Body::new) } else { forwarded }
            }
            _ => response.map(Body::new),
        }
    }

    /// Records a write, so that WordPress's actions run after it. `None` if WordPress must handle it; `Some(None)` if no actions run.
    async fn begin(&self, api: &ApiRequest, parts: &Parts, mut params: Map<String, Value>) -> Option<Option<Begun>> {
        let Some(actions) = &self.0.actions else { return Some(None) };
        // Anybody can send writes without credentials. They must not cost flushing a disk.
        if viewer(&parts.headers, &api.query, &self.0.nonce_header) == Some(Viewer::Anonymous) {
            return None;
        }
        let method = &parts.method;
        params.extend(api.query.iter().map(|(name, value)| (name.clone(), value.clone())));
        match actions.begin(method, &api.route, &params).await {
            Ok(begun) => Some(Some(begun)),
            // Routes of this server only have no actions.
            Err(NotBegun::Unknown) if self.is_configured(method, &api.route) => Some(None),
            Err(NotBegun::Unknown) => None,
            Err(error) => {
                tracing::warn!(route = api.route, "WordPress handles a write: {error}");
                None
            }
        }
    }

    /// Whether this server handles a write with this body.
    fn owns_body(&self, request: &ApiRequest, parts: &Parts, params: &Map<String, Value>) -> bool {
        let knows = |method: &Method, route: &str, params: &Map<String, Value>| {
            let endpoint = request.server.endpoint_for(method, route);
            endpoint.is_some_and(|(_, endpoint)| unknown_name(endpoint, params, false).is_none())
        };
        if request.route != BATCH {
            return knows(&parts.method, &request.route, params);
        }
        let viewer = viewer(&parts.headers, &request.query, &self.0.nonce_header);
        let (Some(viewer), Some(requests)) = (viewer, batch_parts(params)) else { return false };
        requests.iter().all(|(method, route, query, body)| {
            self.owns(&request.server, method, route, query, viewer).is_ok() && knows(method, route, body)
        })
    }
}

/// Whether a status is an error on which WordPress may decide otherwise. Preconditions and limits of this server hold for both.
fn is_rejected(status: StatusCode) -> bool {
    let own = [
        StatusCode::PRECONDITION_FAILED,
        StatusCode::PRECONDITION_REQUIRED,
        StatusCode::PAYLOAD_TOO_LARGE,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    status.is_client_error() && !own.contains(&status)
}

/// Whether WordPress did not respond, according to a status.
pub(super) fn is_away(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE)
}

/// Reads a body of at most this many bytes. Of a larger one, returns what was read and the rest.
pub(super) async fn read_some(mut body: Body, limit: usize) -> Result<(Bytes, Option<Body>), Response> {
    if http_body::Body::size_hint(&body).upper().is_some_and(|size| size <= limit as u64) {
        let read = to_bytes(body, limit).await;
        return read.map(|bytes| (bytes, None)).map_err(|_| StatusCode::BAD_REQUEST.into_response());
    }
    let mut read = Vec::new();
    while read.len() <= limit {
        match body.frame().await {
            None => return Ok((read.into(), None)),
            Some(Ok(frame)) => read.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(_)) => return Err(StatusCode::PAYLOAD_TOO_LARGE.into_response()),
        }
    }
    Ok((read.into(), Some(body)))
}

/// A body with this beginning.
pub(super) fn prepend(start: Bytes, rest: Body) -> Body {
    use futures_util::StreamExt as _;
    let start = futures_util::stream::once(std::future::ready(Ok::<_, axum::Error>(start)));
    Body::from_stream(start.chain(rest.into_data_stream()))
}
