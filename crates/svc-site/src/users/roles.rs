//! Roles and capabilities of a user.

use svc_auth::roles::{Roles, UserCaps};
use svc_store::{Meta, StoredText};

/// The capabilities of a user with this meta.
pub fn caps(meta: &Meta, roles: &Roles, prefix: &str) -> UserCaps {
    let stored = meta.first(&format!("{prefix}capabilities")).map(StoredText::json).unwrap_or_default();
    roles.caps_of(&stored)
}
