//! The interface: built from what is registered, and built anew when a setting that it was made of changes.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use svc_controllers::RestSite;
use svc_http::{Authenticator, RequestLimits, RestService};
use svc_routing::{Registry, Server};
use svc_site::Settings;

use super::Register;
use crate::error::Error;

/// How long an answer is given again while the data is the same: what looks at the clock, or at a theme's files, is then as
/// old at most.
const KEPT: Duration = Duration::from_secs(1);

/// The interface of one site. Cheap to clone.
#[derive(Clone)]
pub(super) struct Rest(Arc<Inner>);

struct Inner {
    site: Arc<RestSite>,
    register: Vec<Register>,
    debug: bool,
    /// Application passwords may be used.
    passwords: bool,
    current: ArcSwapOption<Built>,
}

/// A server, and what went into it.
struct Built {
    server: Server,
    /// The options as they were.
    settings: Arc<Settings>,
    /// Address of the interface.
    root: String,
    /// Extensions that were switched on.
    extensions: Vec<String>,
}

impl Rest {
    pub(super) fn build(
        site: Arc<RestSite>,
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
        if inner.site.settings().map_or(true, |settings| current.is_of(&inner.site, &settings)) {
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
    pub(super) fn service(&self, limits: RequestLimits, authenticator: Arc<dyn Authenticator>) -> RestService {
        let (rest, site) = (self.clone(), Arc::clone(&self.0.site));
        RestService::builder()
            .limits(limits)
            .authenticator(authenticator)
            .response_cache(KEPT, move || site.store.state())
            .build_from(move || rest.server())
    }
}

impl Built {
    /// Whether a server made of these options would be the same.
    fn is_of(&self, site: &RestSite, settings: &Arc<Settings>) -> bool {
        Arc::ptr_eq(&self.settings, settings)
            || (settings.urls.rest("/") == self.root && site.active_extensions(settings) == self.extensions)
    }
}

fn make(inner: &Inner) -> Result<Built, svc_schema::Error> {
    let site = &inner.site;
    let mut info = svc_controllers::site_info(site)?;
    info.debug = inner.debug;
    let (root, settings) = (info.urls.url("/"), site.settings()?);
    let extensions = site.active_extensions(&settings);
    let mut registry = Registry::for_site(info);
    svc_controllers::mount(&mut registry, site, inner.passwords);
    for f in &inner.register {
        f(&mut registry, site);
    }
    site.site.register_extensions(&extensions, &mut registry);
    Ok(Built { server: registry.build(), settings, root, extensions })
}
