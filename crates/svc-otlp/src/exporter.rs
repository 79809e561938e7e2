//! Encodes spans as protobuf and sends them to the collector, on the thread of the batch processor.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{HeaderMap, HeaderValue};
use opentelemetry_proto::{
    tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse},
    transform::{common::tonic::ResourceAttributesWithSchema, trace::tonic::group_spans_by_resource_and_scope},
};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    trace::{SpanData, SpanExporter},
};
use prost::Message as _;
use svc_fetch::{Allowed, FetchError, Guard, GuardedClient, Post};

use crate::ExportCounts;

/// Time limit of a request to the collector.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The URL of the collector is not an HTTP URL, or contains credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the endpoint must be the http or https URL of a collector, without credentials")]
pub struct InvalidEndpoint;

/// Why spans were not exported.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("{0}")]
    Fetch(#[from] FetchError),
    #[error("the collector responds with status {0}")]
    Status(u16),
}

/// Sends encoded spans.
pub(crate) struct Sender {
    client: GuardedClient,
    post: Post,
}

impl Sender {
    /// A sender to the collector at this URL, which may be in a private network, since the operator has chosen it.
    pub(crate) fn new(endpoint: &str, headers: &HeaderMap) -> Result<Self, InvalidEndpoint> {
        let allowed = Allowed::origin_of(endpoint).ok_or(InvalidEndpoint)?;
        let client = GuardedClient::new(Guard::only(vec![allowed]), concat!("svc-otlp/", env!("CARGO_PKG_VERSION")));
        let post = Post::new(format!("{}/v1/traces", endpoint.trim_end_matches('/')), Vec::new());
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let post = headers.iter().fold(post, |post, (name, value)| post.header(name.as_str(), text(value)));
        let post = post.header("content-type", "application/x-protobuf").within(TIMEOUT);
        Ok(Sender { client, post })
    }

    /// Sends spans. Returns how many the collector has refused.
    fn send(&self, spans: &ExportTraceServiceRequest) -> Result<u64, ExportError> {
        let post = self.post.clone().body(spans.encode_to_vec());
        let response = self.client.post(&post)?;
        if !(200..300).contains(&response.status) {
            return Err(ExportError::Status(response.status));
        }
        // A collector that accepts everything may send no body, or another one.
        let refused = ExportTraceServiceResponse::decode(&response.body[..]).ok().and_then(|r| r.partial_success);
        Ok(refused.map_or(0, |refused| u64::try_from(refused.rejected_spans).unwrap_or_default()))
    }
}

/// The exporter of the SDK.
pub(crate) struct Exporter {
    sender: Sender,
    resource: ResourceAttributesWithSchema,
    counts: Arc<ExportCounts>,
    /// Whether the last attempt has failed.
    is_failing: AtomicBool,
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may be secret.
        f.debug_struct("Exporter").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl Exporter {
    pub(crate) fn new(sender: Sender, resource: &Resource, counts: Arc<ExportCounts>) -> Self {
        Exporter { sender, resource: resource.into(), counts, is_failing: AtomicBool::new(false) }
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let n_spans = batch.len();
        self.counts.waiting.fetch_sub(n_spans, Ordering::Relaxed);
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let sent = self.sender.send(&ExportTraceServiceRequest { resource_spans });
        let n_failed = *sent.as_ref().unwrap_or(&(n_spans as u64));
        self.counts.failed.fetch_add(n_failed, Ordering::Relaxed);
        self.counts.exported.fetch_add((n_spans as u64).saturating_sub(n_failed), Ordering::Relaxed);
        // One line for each outage.
        match (&sent, self.is_failing.swap(sent.is_err(), Ordering::Relaxed)) {
            (Err(error), false) => tracing::warn!(%error, "traces cannot be exported; spans are lost until they can"),
            (Ok(_), true) => tracing::info!(n_lost = self.counts.report().failed, "traces are exported again"),
            _ => {}
        }
        sent.map(drop).map_err(|error| OTelSdkError::InternalFailure(error.to_string()))
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}
