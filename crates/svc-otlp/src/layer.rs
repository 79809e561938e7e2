//! Selects which spans belong to a trace, and limits their number.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use opentelemetry_sdk::trace::SdkTracer;
use svc_traces::{REQUEST_TARGET, TARGET};
use tracing::{
    Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id},
    subscriber::Interest,
};
use tracing_subscriber::{
    Layer,
    layer::{Context, Filter},
    registry::LookupSpan,
};

use crate::ExportCounts;

/// Maximum number of spans of one trace.
const MAX_SPANS: u32 = 500;

/// The layer that makes spans of OpenTelemetry.
pub(crate) fn layer<S>(tracer: SdkTracer, counts: Arc<ExportCounts>) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        // A span that was entered could not get a parent of another process.
        .with_context_activation(false)
        .with_filter(TracedSpans { counts })
}

/// The number of spans of a trace: an extension of each of them.
struct TraceSize(Arc<AtomicU32>);

/// Spans of traces: that of a request, and those in it. Events are no part of a trace.
struct TracedSpans {
    counts: Arc<ExportCounts>,
}

impl<S> Filter<S> for TracedSpans
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        match metadata.is_span() && [TARGET, REQUEST_TARGET].contains(&metadata.target()) {
            // Whether there is a trace differs from time to time.
            true => Interest::sometimes(),
            false => Interest::never(),
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, cx: &Context<'_, S>) -> bool {
        if !metadata.is_span() || metadata.target() != TARGET {
            return metadata.is_span() && metadata.target() == REQUEST_TARGET;
        }
        let Some(parent) = cx.lookup_current() else { return false };
        let is_within =
            |size: &TraceSize| size.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within_limit).is_ok();
        let is_enabled = parent.extensions().get::<TraceSize>().is_some_and(is_within);
        if !is_enabled {
            self.counts.over_limit.fetch_add(1, Ordering::Relaxed);
        }
        is_enabled
    }

    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        let Some(span) = cx.span(id) else { return };
        let size = span.parent().and_then(|parent| Some(Arc::clone(&parent.extensions().get::<TraceSize>()?.0)));
        span.extensions_mut().insert(TraceSize(size.unwrap_or_else(|| Arc::new(AtomicU32::new(1)))));
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }
}

/// The number of spans with one more; `None` if there are too many.
fn within_limit(n_spans: u32) -> Option<u32> {
    (n_spans < MAX_SPANS).then_some(n_spans + 1)
}
