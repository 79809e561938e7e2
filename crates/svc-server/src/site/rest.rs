//! The interface: built from what is registered, and built anew when a setting that it was made of changes.

use std::sync::Arc;

use arc_swap::ArcSwap;
use svc_controllers::{Settings, Site, posts::Posts};
use svc_http::{Authenticator, Limits, RestService};
use svc_model::RestController;
use svc_routing::{Map, Registry, Request, Server, SiteInfo};

use super::{Register, facts};
use crate::error::{Error, Result};

/// The interface of one site. Cheap to clone.
#[derive(Clone)]
pub(super) struct Rest(Arc<Inner>);

struct Inner {
    site: Arc<Site>,
    register: Vec<Register>,
    debug: bool,
    /// Application passwords may be used.
    passwords: bool,
    current: ArcSwap<Built>,
}

/// A server, and the settings that went into it.
struct Built {
    server: Server,
    root: String,
}

impl Rest {
    pub(super) fn build(site: Arc<Site>, register: Vec<Register>, debug: bool, passwords: bool) -> Result<Self> {
        let settings = site.settings().map_err(|e| Error::Refused(e.message().to_owned()))?;
        let first = make(&site, &register, debug, passwords, &settings);
        for notice in first.server.notices() {
            tracing::warn!(function = notice.function, "{}", notice.message);
        }
        Ok(Rest(Arc::new(Inner { site, register, debug, passwords, current: ArcSwap::from_pointee(first) })))
    }

    /// The interface as it stands now. Requests under way finish on the one that they began with.
    pub(super) fn server(&self) -> Server {
        let inner = &*self.0;
        let current = inner.current.load();
        // Without its settings the site cannot answer anyway; what it says then is the controllers' business.
        let Ok(settings) = inner.site.settings() else { return current.server.clone() };
        if settings.urls.rest("") == current.root {
            return current.server.clone();
        }
        let built = Arc::new(make(&inner.site, &inner.register, inner.debug, inner.passwords, &settings));
        inner.current.store(Arc::clone(&built));
        built.server.clone()
    }

    /// The service that answers the interface's requests.
    pub(super) fn service(&self, limits: Limits, authenticator: Arc<dyn Authenticator>) -> RestService {
        let rest = self.clone();
        RestService::from_source(move || rest.server()).limits(limits).authenticator(authenticator)
    }
}

fn make(site: &Arc<Site>, register: &[Register], debug: bool, passwords: bool, settings: &Settings) -> Built {
    let root = settings.urls.rest("");
    let shown = Arc::clone(site);
    let mut info = SiteInfo::new(site.brand.clone(), root.clone()).facts(move |_: Request| {
        let facts = match shown.settings() {
            Ok(settings) => {
                let mut facts = facts::index(&shown, &settings);
                facts.insert("authentication".to_owned(), facts::authentication(&shown, &settings, passwords));
                facts
            }
            Err(_) => Map::new(),
        };
        Box::pin(std::future::ready(facts))
    });
    info.debug = debug;
    let mut registry = Registry::for_site(info);
    families(&mut registry, site);
    for f in register {
        f(&mut registry, site);
    }
    Built { server: registry.build(), root }
}

/// The families that every site has.
fn families(registry: &mut Registry, site: &Arc<Site>) {
    let namespace = site.brand.namespace();
    for kind in site.types.iter().filter(|t| t.show_in_rest && t.rest_controller == RestController::Posts && t.name == "post") {
        let (site, kind) = (Arc::clone(site), kind.clone());
        registry.mount(&namespace, move |extra| Posts::new(&site, &kind, extra));
    }
}
