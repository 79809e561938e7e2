//! The span of a request, with which a trace begins.

use http::{Method, Request};
use tracing::{Span, field::Empty};

use crate::{
    REQUEST_TARGET, TraceContext,
    context::TRACESTATE,
    tracer::{Tracer, tracer},
};

/// Maximum length of the path, in bytes.
const PATH_LIMIT: usize = 200;

/// The name of methods that HTTP does not define, as OpenTelemetry has it.
const OTHER: &str = "_OTHER";

/// The trace of a request in progress. Cheap to clone.
#[derive(Clone)]
pub struct RequestTrace {
    span: Span,
    tracer: &'static dyn Tracer,
}

impl std::fmt::Debug for RequestTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RequestTrace").field(&self.span.id()).finish()
    }
}

impl RequestTrace {
    /// Begins the trace of a request with this id, if the tracer selects it. The trace continues that of the request's `traceparent`; whether
    /// that one is recorded counts only if the request is `from_proxy`, a trusted one, since a client must not choose what is traced.
    pub fn begin<B>(request: &mut Request<B>, id: &str, is_tls: bool, from_proxy: bool) -> Option<Self> {
        let tracer = tracer()?;
        let parent = TraceContext::of(request.headers());
        if !tracer.selects(parent.filter(|_| from_proxy).map(|parent| parent.is_sampled)) {
            return None;
        }
        let span = tracing::info_span!(
            target: REQUEST_TARGET, parent: None, "request", id, user = Empty, trace_id = Empty
        );
        tracer.begin(&span, parent);
        let trace = RequestTrace { span, tracer };
        let path = request.uri().path();
        tracer.rename(&trace.span, method_name(request.method()).to_owned());
        tracer.set_text(&trace.span, "http.request.method", method_name(request.method()));
        tracer.set_text(&trace.span, "url.scheme", if is_tls { "https" } else { "http" });
        // Paths are ASCII.
        tracer.set_text(&trace.span, "url.path", path.get(..PATH_LIMIT).unwrap_or(path));
        if let Some(context) = tracer.context(&trace.span) {
            trace.span.record("trace_id", context.trace_id_text());
        }
        if parent.is_none() {
            // It belongs to no trace.
            request.headers_mut().remove(TRACESTATE);
        }
        Some(trace)
    }

    /// The span. What happens in it belongs to the trace.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Records the pattern of the route that handles the request, which is a part of the span's name.
    pub fn set_route(&self, method: &Method, pattern: &str) {
        self.tracer.set_text(&self.span, "http.route", pattern);
        self.tracer.rename(&self.span, format!("{} {pattern}", method_name(method)));
    }

    /// Records the status of the response.
    pub fn end(&self, status: u16) {
        self.tracer.set_status(&self.span, status);
    }
}

/// The name of a method. Clients can send any method, which must not become a value of spans.
pub(crate) fn method_name(method: &Method) -> &'static str {
    const KNOWN: [Method; 9] = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::CONNECT,
        Method::TRACE,
    ];
    const NAMES: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    let found = KNOWN.iter().zip(NAMES).find(|(known, _)| *known == method);
    found.map_or(OTHER, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_methods_have_one_name() {
        for (method, name) in [("GET", "GET"), ("PATCH", "PATCH"), ("get", OTHER), ("SECRET", OTHER)] {
            assert_eq!(method_name(&method.parse().unwrap()), name);
        }
    }
}
