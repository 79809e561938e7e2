//! Limits the spans that wait to be sent, and counts those that are dropped, which the SDK does not report.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use opentelemetry::{
    Context,
    trace::{SpanId, SpanKind},
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchSpanProcessor, Span, SpanData, SpanProcessor},
};
use svc_traces::LOG_FIELDS;

use crate::ExportCounts;

/// A batch processor whose queue is never full: what does not fit is dropped before.
#[derive(Debug)]
pub(crate) struct BoundedQueue {
    inner: BatchSpanProcessor,
    capacity: usize,
    counts: Arc<ExportCounts>,
}

impl BoundedQueue {
    /// `capacity` is that of the processor.
    pub(crate) fn new(inner: BatchSpanProcessor, capacity: usize, counts: Arc<ExportCounts>) -> Self {
        BoundedQueue { inner, capacity, counts }
    }
}

impl SpanProcessor for BoundedQueue {
    fn on_start(&self, span: &mut Span, cx: &Context) {
        self.inner.on_start(span, cx);
    }

    fn on_end(&self, mut span: SpanData) {
        if self.counts.waiting.fetch_add(1, Ordering::Relaxed) >= self.capacity {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        complete(&mut span);
        self.inner.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Completes the span of a request, which is also that of its log lines: removes the fields that are for the log, and sets the kind, which
/// would be such a field.
fn complete(span: &mut SpanData) {
    if span.parent_span_is_remote || span.parent_span_id == SpanId::INVALID {
        span.span_kind = SpanKind::Server;
        span.attributes.retain(|attribute| !LOG_FIELDS.contains(&attribute.key.as_str()));
    }
}
