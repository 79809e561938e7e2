//! What a request carries beyond its parameters: its caller, session, application password and client address.

use svc_auth::Caller;
use svc_routing::{Method, Request};

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
