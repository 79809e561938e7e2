//! Information about the site that the framework needs.

use std::sync::Arc;

use serde_json::json;
use svc_brand::{Brand, LINK_RELATION};

use crate::handler::BoxFuture;
use crate::urls::{ApiUrls, RootUrl};
use crate::{Curie, Map, ParamOrder, Request};

type IndexFields = Arc<dyn Fn(Request) -> BoxFuture<Map> + Send + Sync>;

/// The site's brand, URLs, settings, and the fields of its index. Cheap to clone.
#[derive(Clone)]
pub struct SiteInfo {
    /// The brand of wire names.
    pub brand: Brand,
    /// The link relation for discovery, which is also the prefix of relation names that the CURIE abbreviates.
    pub link_relation: String,
    /// Whether developer notices are sent as headers.
    pub debug: bool,
    /// Whether `_jsonp` is supported.
    pub jsonp: bool,
    /// The precedence of parameter sources.
    pub param_order: ParamOrder,
    /// The URLs of the API.
    pub urls: Arc<dyn ApiUrls>,
    index_fields: IndexFields,
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
            debug: false,
            jsonp: true,
            param_order: ParamOrder::default(),
            urls: Arc::new(urls),
            index_fields: Arc::new(|_| Box::pin(std::future::ready(Map::new()))),
        }
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
