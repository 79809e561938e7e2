//! Events for other programs, in a namespace that is the same for every brand: the change feed, and webhooks.
//!
//! The routes are not part of WordPress's API, so the index does not list them.

mod changes;
mod webhooks;

use std::sync::Arc;

use svc_brand::OWN_NAMESPACE;
use svc_events::EventSource;

pub use changes::ChangeFeed;
pub use webhooks::WebhookRoutes;

use crate::RestSite;

/// The path of the change feed in the namespace of these routes.
const CHANGES: &str = "/changes";

/// The route of the change feed.
pub fn changes_route() -> String {
    format!("/{OWN_NAMESPACE}{CHANGES}")
}

/// The events of a site.
pub fn source(rest: &RestSite) -> EventSource {
    let settings = rest.registered_settings.iter().map(|setting| (setting.option.clone(), setting.name.clone()));
    EventSource::new(Arc::clone(&rest.site), settings)
}
