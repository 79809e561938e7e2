//! The export of traces.

use std::{fmt, sync::Arc};

use svc_monitoring::{Families, Source};
use svc_otlp::{Export, ExportCounts, ExportSettings};
use tracing::Subscriber;
use tracing_subscriber::{Layer, registry::LookupSpan};

use crate::config;

/// Traces that are exported. On drop, the last spans are sent, for at most two seconds.
pub(crate) struct Traces(Export);

impl Traces {
    /// Starts to send spans. `None` if the URL is invalid, which the configuration has checked.
    pub(crate) fn start(config: &config::Traces) -> Option<Self> {
        let settings = ExportSettings {
            endpoint: config.endpoint.clone(),
            headers: config.headers.clone(),
            share: config.share,
            follows_proxy: config.follows_proxy,
            service_name: config.service_name.clone(),
            service_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Export::start(settings).ok().map(Traces)
    }

    /// The layer that receives the spans.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        self.0.layer()
    }

    /// Begins to trace requests.
    pub(crate) fn begin(&self) {
        if let Err(error) = self.0.begin() {
            tracing::warn!(%error, "requests are not traced");
        }
    }

    /// Numbers of spans.
    pub(crate) fn span_counts(&self) -> SpanCounts {
        SpanCounts(Arc::clone(self.0.counts()))
    }
}

/// Numbers of spans, as metrics.
pub(crate) struct SpanCounts(Arc<ExportCounts>);

impl Source for SpanCounts {
    fn write(&self, families: &mut Families<'_>) -> fmt::Result {
        let report = self.0.report();
        let outcomes = [
            ("exported", report.exported),
            ("failed", report.failed),
            ("dropped", report.dropped),
            ("over_limit", report.over_limit),
        ];
        let outcomes = outcomes.map(|(outcome, n)| ([("outcome", outcome)], n as f64));
        families.counter(
            "svc_trace_spans",
            "Spans of traces: exported, refused by the collector, dropped because too many waited, or not created because a trace had too many.",
            outcomes.iter().map(|(label, n)| (&label[..], *n)),
        )?;
        families.gauge("svc_trace_spans_waiting", "Spans that wait to be sent.", [(&[][..], report.waiting as f64)])
    }
}
