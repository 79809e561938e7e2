//! What the framework has to be told about the site it serves.

use std::sync::Arc;

use serde_json::json;
use svc_brand::{Brand, LINK_RELATION};

use crate::handler::BoxFuture;
use crate::links::Curie;
use crate::{Map, ParamOrder, Request};

type Facts = Arc<dyn Fn(Request) -> BoxFuture<Map> + Send + Sync>;

/// Facts of the site: brand, addresses, switches, and what the index shows. Cheap to clone.
#[derive(Clone)]
pub struct SiteInfo {
    /// The brand of wire names.
    pub brand: Brand,
    /// Address of the interface root: `https://example.org/svc-json/`, or `https://example.org/index.php?rest_route=/`.
    pub rest_url: String,
    /// The relation of discovery; also the beginning of the relation names that the curie shortens.
    pub link_relation: String,
    /// Whether developer notices are sent as headers.
    pub debug: bool,
    /// Whether `_jsonp` is served.
    pub jsonp: bool,
    /// Which source of parameters wins.
    pub param_order: ParamOrder,
    facts: Facts,
}

impl SiteInfo {
    /// A site at this address, without further facts for its index.
    pub fn new(brand: Brand, rest_url: impl Into<String>) -> Self {
        Self {
            brand,
            rest_url: rest_url.into(),
            link_relation: LINK_RELATION.to_owned(),
            debug: false,
            jsonp: true,
            param_order: ParamOrder::default(),
            facts: Arc::new(|_| Box::pin(std::future::ready(Map::new()))),
        }
    }

    /// Sets the first members of the index (`name`, `description`, `url`, `home` …), asked for with every request.
    #[must_use]
    pub fn facts(mut self, facts: impl Fn(Request) -> BoxFuture<Map> + Send + Sync + 'static) -> Self {
        self.facts = Arc::new(facts);
        self
    }

    /// Sets the first members of the index to fixed values.
    #[must_use]
    pub fn fixed_facts(self, facts: Map) -> Self {
        self.facts(move |_| Box::pin(std::future::ready(facts.clone())))
    }

    pub(crate) fn index_facts(&self, req: Request) -> BoxFuture<Map> {
        (self.facts)(req)
    }

    /// The curies of responses.
    pub fn curies(&self) -> Vec<Curie> {
        vec![Curie { name: self.brand.curie().to_owned(), href: format!("{}{{rel}}", self.link_relation) }]
    }
}

impl Default for SiteInfo {
    /// A site of the default brand on this machine, for tests and first steps.
    fn default() -> Self {
        let brand = Brand::default();
        let home = "http://localhost";
        let facts = json!({ "name": "", "description": "", "url": home, "home": home });
        let url = format!("{home}/{}/", brand.prefix());
        Self::new(brand, url).fixed_facts(facts.as_object().cloned().unwrap_or_default())
    }
}
