//! Data of a request beyond its parameters: caller, session, application password and client address.

use svc_auth::Caller;
use svc_model::UserId;
use svc_render::{blocks::BlockViewer, feeds::Missing};
use svc_routing::{CallerKey, Method, Request, Result};
use svc_site::{Access, Settings, UnlockedPosts};
use svc_versions::depends_on_request;

use crate::rest_site::RestSite;

/// UUID of the application password that authenticated the request. A request extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPassword(pub String);

/// Token of the session whose cookie authenticated the request. Nonces are bound to it. A request extension.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(pub svc_auth::Secret);

/// Client IP address: the socket's, or the one that a trusted proxy forwards. A request extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub std::net::IpAddr);

/// The client IP address of a request; 127.0.0.1 if it is unknown.
pub(crate) fn client_address(req: &Request) -> std::net::IpAddr {
    req.extensions().get::<ClientAddress>().map_or(std::net::Ipv4Addr::LOCALHOST.into(), |client| client.0)
}

/// The caller of a request; anonymous if it is not authenticated.
pub fn caller(req: &Request) -> Caller {
    req.caller::<Caller>().cloned().unwrap_or_default()
}

/// The key under which data is cached for a user with capabilities of this [key](capabilities_key).
pub fn caller_key(id: UserId, capabilities: CallerKey) -> CallerKey {
    if id.0 == 0 { CallerKey::ANONYMOUS } else { CallerKey::of(&(id.0, capabilities)) }
}

/// The key of a caller's roles and capabilities.
pub fn capabilities_key(caller: &Caller) -> CallerKey {
    let caps: Vec<&str> = caller.allcaps.iter().map(|(cap, _)| cap).filter(|cap| caller.allcaps.has(cap)).collect();
    CallerKey::of(&(&caller.roles, caps))
}

/// The key of the caller of a request, as the authenticator attached it or computed from the caller.
pub(crate) fn key_of(req: &Request, caller: &Caller) -> CallerKey {
    req.caller_key().unwrap_or_else(|| caller_key(caller.id, capabilities_key(caller)))
}

/// Whether the caller has a capability that does not depend on an object.
///
/// # Errors
/// Database errors.
pub(crate) fn can(site: &RestSite, req: &Request, cap: &str) -> Result<bool> {
    Ok(Access::new(site, &*site.settings()?).can(&caller(req), cap))
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
pub(crate) fn block_viewer(site: &RestSite, settings: &Settings, req: &Request) -> BlockViewer {
    let query = svc_php::query::build(&req.params().query);
    let route = settings.urls.rest(req.route());
    let separator = if route.contains('?') { '&' } else { '?' };
    let caller = caller(req);
    BlockViewer {
        url: if query.is_empty() { route } else { format!("{route}{separator}{query}") },
        missing: Missing::default(),
        logout_nonce: if caller.is_logged_in() { nonce(site, req, LOG_OUT) } else { String::new() },
        unlocked: UnlockedPosts::default(),
        caller,
    }
}

/// The action of the nonce that logs a user out.
const LOG_OUT: &str = "log-out";

/// A nonce for an action of the caller in their session; empty if the site has no keys.
pub(crate) fn nonce(site: &RestSite, req: &Request, action: &str) -> String {
    depends_on_request();
    let token = req.extensions().get::<SessionToken>().map_or("", |token| token.0.expose());
    site.nonce(caller(req).id, token, action)
}

#[cfg(test)]
mod tests {
    use svc_auth::roles::{CapSet, UserCaps};

    use super::*;

    #[test]
    fn callers_with_other_capabilities_have_other_keys() {
        let key = |id, caps: &[&str]| {
            let caps = UserCaps { all: CapSet::granting(caps), ..UserCaps::default() };
            caller_key(UserId(id), capabilities_key(&Caller::new(UserId(id), caps)))
        };
        assert_eq!(key(1, &["read"]), key(1, &["read"]));
        assert_eq!(key(0, &["read"]), CallerKey::ANONYMOUS);
        for other in [key(2, &["read"]), key(1, &[]), key(1, &["read", "edit_posts"]), key(0, &[])] {
            assert_ne!(key(1, &["read"]), other);
        }
    }
}
