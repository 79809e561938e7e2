//! Spans of requests to other servers, and the header by which those continue the trace.

use http::{HeaderMap, HeaderValue, Method};
use tracing::{Span, field::Empty};

use crate::{TARGET, context::TRACEPARENT, request::method_name, tracer::tracer};

/// The span of a request to another server, disabled outside of a trace. It has no URL, since paths and queries may be secret.
pub fn client_span(method: &Method, host: &str, port: Option<u16>) -> Span {
    tracing::info_span!(
        target: TARGET,
        "client",
        otel.name = method_name(method),
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = method_name(method),
        http.response.status_code = Empty,
        server.address = host,
        server.port = port,
    )
}

/// Records the status of the response; `None` if there is no response.
pub fn end_client_span(span: &Span, status: Option<u16>) {
    if let Some(status) = status {
        span.record("http.response.status_code", status);
    }
    if status.is_none_or(|status| status >= 400) {
        span.record("otel.status_code", "error");
    }
}

/// Adds the header `traceparent`, with this span as the parent, if it belongs to a trace.
pub fn propagate(span: &Span, headers: &mut HeaderMap) {
    let context = tracer().filter(|_| !span.is_disabled()).and_then(|tracer| tracer.context(span));
    if let Some(value) = context.and_then(|context| HeaderValue::try_from(context.to_string()).ok()) {
        headers.insert(TRACEPARENT, value);
    }
}
