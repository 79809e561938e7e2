//! Who sends a request: application password, session, address, and the keys under which data is cached for a caller.

use svc_auth::Caller;
use svc_model::UserId;
use svc_routing::CallerKey;

/// UUID of the application password that authenticated the request. A request extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPassword(pub String);

/// Token of the session whose cookie authenticated the request. Nonces are bound to it. A request extension.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(pub svc_auth::Secret);

/// Client IP address: the socket's, or the one that a trusted proxy forwards. A request extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub std::net::IpAddr);

/// The key under which data is cached for a user with capabilities of this [key](capabilities_key).
pub fn caller_key(id: UserId, capabilities: CallerKey) -> CallerKey {
    if id.0 == 0 { CallerKey::ANONYMOUS } else { CallerKey::of(&(id.0, capabilities)) }
}

/// The key of a caller's roles and capabilities.
pub fn capabilities_key(caller: &Caller) -> CallerKey {
    let caps: Vec<&str> = caller.allcaps.iter().map(|(cap, _)| cap).filter(|cap| caller.allcaps.has(cap)).collect();
    CallerKey::of(&(&caller.roles, caps))
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
