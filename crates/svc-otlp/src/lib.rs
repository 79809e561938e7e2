#![doc = include_str!("../README.md")]

mod counts;
mod exporter;
mod layer;
mod queue;
mod tracer;

use std::{sync::Arc, time::Duration};

use http::HeaderMap;
use opentelemetry::{KeyValue, trace::TracerProvider as _};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider},
};
use tracing::Subscriber;
use tracing_subscriber::{Layer, registry::LookupSpan};

pub use counts::{CountReport, ExportCounts};
pub use exporter::InvalidEndpoint;

use exporter::{Exporter, Sender};
use queue::BoundedQueue;
use svc_traces::AlreadyInstalled;
use tracer::OtlpTracer;

/// Maximum number of spans that wait to be sent.
const MAX_QUEUED: usize = 4_096;

/// Maximum number of spans that are sent at once.
const MAX_BATCH: usize = 512;

/// How often spans are sent, if there are fewer.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long the end of the process waits for the last spans.
const LAST_SPANS: Duration = Duration::from_secs(2);

/// What is exported, and where to.
#[derive(Clone, Debug)]
pub struct ExportSettings {
    /// URL of the collector. Spans are sent to its path `v1/traces`.
    pub endpoint: String,
    /// Headers of the requests to the collector, such as one with a token.
    pub headers: HeaderMap,
    /// Share of the requests that are traced, from 0 to 1.
    pub share: f64,
    /// Whether the decision of a trusted proxy has precedence over the share.
    pub follows_proxy: bool,
    /// Name of the service.
    pub service_name: String,
    /// Version of the service.
    pub service_version: String,
}

/// An export of traces in progress.
pub struct Export {
    provider: SdkTracerProvider,
    counts: Arc<ExportCounts>,
    share: f64,
    follows_proxy: bool,
}

impl Export {
    /// Starts the thread that sends spans.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn start(settings: ExportSettings) -> Result<Export, InvalidEndpoint> {
        let ExportSettings { endpoint, headers, share, follows_proxy, service_name, service_version } = settings;
        let counts = Arc::<ExportCounts>::default();
        let resource = Resource::builder()
            .with_service_name(service_name)
            .with_attribute(KeyValue::new("service.version", service_version))
            .build();
        let exporter = Exporter::new(Sender::new(&endpoint, &headers)?, &resource, Arc::clone(&counts));
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_QUEUED)
            .with_max_export_batch_size(MAX_BATCH)
            .with_scheduled_delay(INTERVAL)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            // The tracer has selected the request.
            .with_sampler(Sampler::AlwaysOn)
            .with_span_processor(BoundedQueue::new(processor, MAX_QUEUED, Arc::clone(&counts)))
            .build();
        Ok(Export { provider, counts, share, follows_proxy })
    }

    /// The layer that receives the spans.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        layer::layer(self.provider.tracer("svc"), Arc::clone(&self.counts))
    }

    /// Begins to trace requests, whose spans the [layer](Self::layer) receives.
    ///
    /// # Errors
    /// If the process has a tracer.
    pub fn begin(&self) -> Result<(), AlreadyInstalled> {
        svc_traces::install(OtlpTracer::new(self.share, self.follows_proxy))
    }

    /// Numbers of spans.
    pub fn counts(&self) -> &Arc<ExportCounts> {
        &self.counts
    }
}

/// Sends the last spans, for at most two seconds. Later ones are dropped.
impl Drop for Export {
    fn drop(&mut self) {
        if self.provider.shutdown_with_timeout(LAST_SPANS).is_err() {
            tracing::warn!("the last spans may be missing in the traces: the collector does not respond in time");
        }
    }
}
