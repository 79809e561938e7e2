//! Selects the requests that are traced, and knows the ids of spans.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState},
};
use svc_traces::{TraceContext, Tracer};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// Traces a share of the requests.
pub(crate) struct OtlpTracer {
    /// Requests whose number has a hash below this are traced.
    threshold: u64,
    follows_proxy: bool,
    n_requests: AtomicU64,
    /// Clients cannot predict which of their requests are traced, and the ids that they send have no influence.
    key: RandomState,
}

impl OtlpTracer {
    pub(crate) fn new(share: f64, follows_proxy: bool) -> Self {
        // A float is converted to the nearest number of the type.
        let threshold = (share * u64::MAX as f64) as u64;
        OtlpTracer { threshold, follows_proxy, n_requests: AtomicU64::new(0), key: RandomState::new() }
    }
}

impl Tracer for OtlpTracer {
    fn selects(&self, parent: Option<bool>) -> bool {
        if let Some(decided) = parent.filter(|_| self.follows_proxy) {
            return decided;
        }
        match self.threshold {
            0 => false,
            u64::MAX => true,
            threshold => self.key.hash_one(self.n_requests.fetch_add(1, Ordering::Relaxed)) < threshold,
        }
    }

    fn begin(&self, span: &Span, parent: Option<TraceContext>) {
        let Some(TraceContext { trace_id, span_id, .. }) = parent else { return };
        let (trace_id, span_id) = (TraceId::from(trace_id), SpanId::from(span_id));
        let context = SpanContext::new(trace_id, span_id, TraceFlags::SAMPLED, true, TraceState::default());
        // It fails for a span that is disabled.
        let _continued = span.set_parent(Context::new().with_remote_span_context(context));
    }

    fn context(&self, span: &Span) -> Option<TraceContext> {
        let context = span.context();
        let context = context.span().span_context().clone();
        context.is_valid().then(|| TraceContext {
            trace_id: u128::from_be_bytes(context.trace_id().to_bytes()),
            span_id: u64::from_be_bytes(context.span_id().to_bytes()),
            is_sampled: context.is_sampled(),
        })
    }

    fn rename(&self, span: &Span, name: String) {
        span.context().span().update_name(name);
    }

    fn set_text(&self, span: &Span, name: &'static str, value: &str) {
        span.set_attribute(name, value.to_owned());
    }

    fn set_status(&self, span: &Span, status: u16) {
        span.set_attribute("http.response.status_code", i64::from(status));
        if status >= 500 {
            span.set_status(Status::error(""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_selected_by_share_and_by_a_proxy_that_may_decide() {
        for (share, follows_proxy, parent, expected) in [
            (0.0, false, None, 0..=0),
            (0.0, false, Some(true), 0..=0),
            (0.0, true, Some(true), 1_000..=1_000),
            (1.0, false, None, 1_000..=1_000),
            (1.0, false, Some(false), 1_000..=1_000),
            (1.0, true, Some(false), 0..=0),
            (1.0, true, None, 1_000..=1_000),
            (0.1, false, None, 40..=180),
            (0.1, false, Some(true), 40..=180),
        ] {
            let tracer = OtlpTracer::new(share, follows_proxy);
            let n_selected = (0..1_000).filter(|_| tracer.selects(parent)).count();
            assert!(expected.contains(&n_selected), "{share} {follows_proxy} {parent:?}: {n_selected}");
        }
    }
}
