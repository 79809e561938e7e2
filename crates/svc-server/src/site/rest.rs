//! The interface: built from what is registered, and built anew when a setting that it was made of changes.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use svc_controllers::Site;
use svc_http::{Authenticator, Limits, RestService};
use svc_routing::{Registry, Server};

use super::Register;
use crate::error::Error;

/// The interface of one site. Cheap to clone.
#[derive(Clone)]
pub(super) struct Rest(Arc<Inner>);

struct Inner {
    site: Arc<Site>,
    register: Vec<Register>,
    debug: bool,
    /// Application passwords may be used.
    passwords: bool,
    current: ArcSwapOption<Built>,
}

/// A server, and the address of the interface that went into it.
struct Built {
    server: Server,
    root: String,
}

impl Rest {
    pub(super) fn build(
        site: Arc<Site>,
        register: Vec<Register>,
        debug: bool,
        passwords: bool,
    ) -> crate::error::Result<Self> {
        let inner = Inner { site, register, debug, passwords, current: ArcSwapOption::empty() };
        let first = make(&inner).map_err(|e| Error::Refused(format!("the interface: {}", e.message())))?;
        for notice in first.server.notices() {
            tracing::warn!(function = notice.function, "{}", notice.message);
        }
        inner.current.store(Some(Arc::new(first)));
        Ok(Rest(Arc::new(inner)))
    }

    /// The interface as it stands now. Requests under way finish on the one that they began with.
    pub(super) fn server(&self) -> Server {
        let inner = &*self.0;
        let current = inner.current.load_full().expect("the first one is made with the interface");
        // Without its settings the site cannot answer anyway; what it says then is the controllers' business.
        let same = inner.site.settings().map_or(true, |settings| settings.urls.rest("/") == current.root);
        if same {
            return current.server.clone();
        }
        match make(inner) {
            Ok(built) => {
                let built = Arc::new(built);
                inner.current.store(Some(Arc::clone(&built)));
                built.server.clone()
            }
            Err(_) => current.server.clone(),
        }
    }

    /// The service that answers the interface's requests.
    pub(super) fn service(&self, limits: Limits, authenticator: Arc<dyn Authenticator>) -> RestService {
        let rest = self.clone();
        RestService::from_source(move || rest.server()).limits(limits).authenticator(authenticator)
    }
}

fn make(inner: &Inner) -> Result<Built, svc_schema::Error> {
    let site = &inner.site;
    let mut info = svc_controllers::site_info(site)?;
    info.debug = inner.debug;
    let root = info.rest_url.clone();
    let mut registry = Registry::for_site(info);
    svc_controllers::mount(&mut registry, site, inner.passwords);
    for f in &inner.register {
        f(&mut registry, site);
    }
    Ok(Built { server: registry.build(), root })
}
