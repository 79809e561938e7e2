//! Information about the site that the framework needs.

use std::any::Any;
use std::sync::Arc;

use serde_json::json;
use svc_brand::{Brand, LINK_RELATION};
use svc_metrics::RequestCounts;
use svc_versions::{Context, VersionStamp, Versions};

use crate::handler::BoxFuture;
use crate::urls::{ApiUrls, RootUrl};
use crate::{Curie, Map, ParamOrder, Request, Result};

/// Version of the REST API (specification, "Versioning" 1). Plugins of WordPress know it as `REST_API_VERSION`.
pub const API_VERSION: &str = "2.0";

/// Maximum number of requests in a batch by default, as in WordPress.
const MAX_BATCH: usize = 25;

/// What batches need of the site's data.
pub trait BatchData: Send + Sync {
    /// Waits until one of the few snapshots may be kept, and keeps the right to it until the returned value is dropped.
    ///
    /// # Errors
    /// If that takes too long.
    fn snapshot_permit(&self) -> BoxFuture<Result<Box<dyn Any + Send>>>;

    /// Whether the caller of a batch may run a transaction, for which other writers wait.
    ///
    /// # Errors
    /// If the data cannot be read.
    fn may_begin(&self, batch: &Request) -> Result<bool>;

    /// Keeps one snapshot for the reads of a context until the returned value is dropped, or something is written with the context.
    ///
    /// # Errors
    /// If the data cannot be read.
    fn hold_snapshot(&self, cx: &Context) -> Result<Box<dyn Any + Send>>;

    /// Opens a transaction that everything that is read and written with the context is a part of.
    fn begin(&self, cx: Context) -> BoxFuture<Result<Box<dyn BatchTransaction>>>;
}

/// The open transaction of a context. Dropping it rolls it back.
pub trait BatchTransaction: Send {
    /// Commits everything, or fails without a change.
    fn commit(self: Box<Self>) -> BoxFuture<Result<()>>;

    /// Rolls everything back.
    fn roll_back(self: Box<Self>) -> BoxFuture<()>;
}

type IndexFields = Arc<dyn Fn(Request) -> BoxFuture<Map> + Send + Sync>;

/// The site's brand, URLs, settings, and the fields of its index. Cheap to clone.
#[derive(Clone)]
pub struct SiteInfo {
    /// The brand of wire names.
    pub brand: Brand,
    /// The link relation for discovery, which is also the prefix of relation names that the CURIE abbreviates.
    pub link_relation: String,
    /// Whether the `Link` to the API root is appended to the links of a route (specification, section Discovery). Otherwise only
    /// responses without links of their own have it, as in WordPress.
    pub append_root_link: bool,
    /// Whether developer notices are sent as headers.
    pub debug: bool,
    /// Whether `_jsonp` is supported.
    pub jsonp: bool,
    /// The precedence of parameter sources.
    pub param_order: ParamOrder,
    /// The URLs of the API.
    pub urls: Arc<dyn ApiUrls>,
    /// Numbers of requests by route, which [`Server::request_counts`](crate::Server::request_counts) finds. A server that is built again
    /// continues to count with the same ones.
    pub requests: Arc<RequestCounts>,
    /// Maximum number of requests in a batch.
    pub max_batch: usize,
    index_fields: IndexFields,
    pub(crate) data: Option<ObservedData>,
    pub(crate) batch_data: Option<Arc<dyn BatchData>>,
}

/// Data whose changes are observed.
#[derive(Clone)]
pub(crate) struct ObservedData {
    pub(crate) versions: Arc<Versions>,
    /// The time for values that are computed from data read after a call of this; `None` if nothing may be cached.
    pub(crate) stamp: Arc<dyn Fn(&Context) -> Option<VersionStamp> + Send + Sync>,
}

impl SiteInfo {
    /// A site with this API root, as a [`RootUrl`], without fields for its index.
    pub fn new(brand: Brand, rest_url: impl Into<String>) -> Self {
        let urls = RootUrl::new(rest_url).plain_prefix(brand.prefix());
        Self::with_urls(brand, urls)
    }

    /// A site with these URLs, without fields for its index.
    pub fn with_urls(brand: Brand, urls: impl ApiUrls + 'static) -> Self {
        Self {
            brand,
            link_relation: LINK_RELATION.to_owned(),
            append_root_link: true,
            debug: false,
            jsonp: true,
            param_order: ParamOrder::default(),
            urls: Arc::new(urls),
            requests: Arc::default(),
            max_batch: MAX_BATCH,
            index_fields: Arc::new(|_| Box::pin(std::future::ready(Map::new()))),
            data: None,
            batch_data: None,
        }
    }

    /// Caches what the server builds from data: the index, descriptions of routes, and the targets of `_embed`. Reads record
    /// what they depend on, and changes are marked in `versions`. `stamp` returns the time before data is read; `None` if
    /// nothing may be cached at present.
    #[must_use]
    pub fn observed_by(
        mut self,
        versions: Arc<Versions>,
        stamp: impl Fn(&Context) -> Option<VersionStamp> + Send + Sync + 'static,
    ) -> Self {
        self.data = Some(ObservedData { versions, stamp: Arc::new(stamp) });
        self
    }

    /// Sets the data of which the reads of a batch see one snapshot, and in which batches run as transactions.
    #[must_use]
    pub fn batch_data(mut self, data: impl BatchData + 'static) -> Self {
        self.batch_data = Some(Arc::new(data));
        self
    }

    /// Sets the first fields of the index (`name`, `description`, `url`, `home` …), which are computed for each
    /// request.
    #[must_use]
    pub fn index_fields(mut self, index_fields: impl Fn(Request) -> BoxFuture<Map> + Send + Sync + 'static) -> Self {
        self.index_fields = Arc::new(index_fields);
        self
    }

    /// Sets the first fields of the index to fixed values.
    #[must_use]
    pub fn fixed_index_fields(self, index_fields: Map) -> Self {
        self.index_fields(move |_| Box::pin(std::future::ready(index_fields.clone())))
    }

    pub(crate) fn compute_index_fields(&self, req: Request) -> BoxFuture<Map> {
        (self.index_fields)(req)
    }

    /// The CURIEs of responses.
    pub fn curies(&self) -> Vec<Curie> {
        vec![Curie { name: self.brand.curie().to_owned(), href: format!("{}{{rel}}", self.link_relation) }]
    }
}

impl Default for SiteInfo {
    /// A site with the default brand whose host is not known: its URLs are absolute paths below `/svc-json/`.
    fn default() -> Self {
        let brand = Brand::default();
        let index_fields = json!({ "name": "", "description": "", "url": "", "home": "" });
        let root = format!("/{}/", brand.prefix());
        Self::new(brand, root).fixed_index_fields(index_fields.as_object().cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_of_the_interface() {
        assert_eq!(super::API_VERSION, "2.0");
    }
}
