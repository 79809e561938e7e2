//! What a request carries beyond its parameters: its caller, session, application password and client address.

use svc_auth::Caller;
use svc_render::{blocks::site_blocks::BlockViewer, feeds::Missing};
use svc_routing::{Method, Request};
use svc_site::{OpenedPosts, Settings};

use crate::rest_site::RestSite;

/// UUID of the application password that a request was signed in with: an extension of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPassword(pub String);

/// The token of the session whose cookie a request was signed in with, to which nonces are bound: an extension of the
/// request.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(pub svc_auth::Secret);

/// The network address that a request came from, as far as it can be believed: an extension of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub std::net::IpAddr);

/// The network address that a request came from; this machine's own when the request says nothing.
pub(crate) fn client_address(req: &Request) -> std::net::IpAddr {
    req.extensions().get::<ClientAddress>().map_or(std::net::Ipv4Addr::LOCALHOST.into(), |client| client.0)
}

/// Who calls; nobody when the request says nothing.
pub fn caller(req: &Request) -> Caller {
    req.caller::<Caller>().cloned().unwrap_or_default()
}

/// Whether a permission to write can be refused without a look at its object: it is asked only so that `Allow` is
/// complete, and nobody is signed in.
pub(crate) fn only_reads(req: &Request) -> bool {
    !req.is_authenticated() && matches!(*req.method(), Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Who reads the response to this request, and where: what dynamic blocks depend on.
pub(crate) fn block_viewer(site: &RestSite, settings: &Settings, req: &Request) -> BlockViewer {
    let query = svc_php::query::build(&req.params().query);
    let route = settings.urls.rest(req.route());
    let joint = if route.contains('?') { '&' } else { '?' };
    let caller = caller(req);
    BlockViewer {
        address: if query.is_empty() { route } else { format!("{route}{joint}{query}") },
        missing: Missing::default(),
        logout_nonce: if caller.is_logged_in() { nonce(site, req, LOG_OUT) } else { String::new() },
        opened: OpenedPosts::default(),
        caller,
    }
}

/// The action of the nonce that logs a user out.
const LOG_OUT: &str = "log-out";

/// A nonce for an action of the caller in their session; empty on a site without keys.
pub(crate) fn nonce(site: &RestSite, req: &Request, action: &str) -> String {
    let token = req.extensions().get::<SessionToken>().map_or("", |token| token.0.expose());
    site.nonce(caller(req).id, token, action)
}
