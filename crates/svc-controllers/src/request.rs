//! Data of a request beyond its parameters: caller, session, application password and client address.

use svc_auth::Caller;
use svc_render::{blocks::BlockViewer, feeds::MissingFeeds};
use svc_routing::{CallerKey, Method, Request, Result};
use svc_site::{
    Access, Settings, Site, UnlockedPosts,
    caller::{ClientAddress, SessionToken, caller_key, capabilities_key},
};
use svc_versions::Context;

/// The client IP address of a request; 127.0.0.1 if it is unknown.
pub(crate) fn client_address(req: &Request) -> std::net::IpAddr {
    req.extensions().get::<ClientAddress>().map_or(std::net::Ipv4Addr::LOCALHOST.into(), |client| client.0)
}

/// The caller of a request; anonymous if it is not authenticated.
pub fn caller(req: &Request) -> Caller {
    req.caller::<Caller>().cloned().unwrap_or_default()
}

/// The key of the caller of a request, as the authenticator attached it or computed from the caller.
pub(crate) fn key_of(req: &Request, caller: &Caller) -> CallerKey {
    req.caller_key().unwrap_or_else(|| caller_key(caller.id, capabilities_key(caller)))
}

/// Whether the caller has a capability that does not depend on an object.
///
/// # Errors
/// Database errors.
pub(crate) fn can(site: &Site, req: &Request, cap: &str) -> Result<bool> {
    Ok(Access::new(site, &*site.settings(req.cx())?).can(&caller(req), cap))
}

/// Whether a write permission can be rejected without loading its object: the check runs only to compute `Allow`, and
/// the caller is anonymous.
pub(crate) fn only_reads(req: &Request) -> bool {
    !req.is_authenticated() && is_read(req)
}

/// Whether the method only reads.
pub(crate) fn is_read(req: &Request) -> bool {
    matches!(*req.method(), Method::GET | Method::HEAD | Method::OPTIONS)
}

/// The caller and URL of this request, for rendering dynamic blocks.
pub(crate) fn block_viewer(cx: &Context, site: &Site, settings: &Settings, req: &Request) -> BlockViewer {
    let query = svc_php::query::build(&req.params().query);
    let route = settings.urls.rest(req.route());
    let separator = if route.contains('?') { '&' } else { '?' };
    let caller = caller(req);
    BlockViewer {
        url: if query.is_empty() { route } else { format!("{route}{separator}{query}") },
        missing: MissingFeeds::default(),
        logout_nonce: if caller.is_logged_in() { nonce(cx, site, req, LOG_OUT) } else { String::new() },
        unlocked: UnlockedPosts::default(),
        caller,
    }
}

/// The action of the nonce that logs a user out.
const LOG_OUT: &str = "log-out";

/// A nonce for an action of the caller in their session; empty if the site has no keys.
pub(crate) fn nonce(cx: &Context, site: &Site, req: &Request, action: &str) -> String {
    cx.depends_on_request();
    let token = req.extensions().get::<SessionToken>().map_or("", |token| token.0.expose());
    site.nonce(cx, caller(req).id, token, action)
}
