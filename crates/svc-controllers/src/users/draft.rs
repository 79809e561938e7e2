//! A user to be stored.

use serde_json::Value;
use svc_auth::Secret;

/// What a request wants to change of a user; `None` leaves a member as it is. `Debug` hides the password.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserDraft {
    pub(crate) username: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) first_name: Option<String>,
    pub(crate) last_name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) locale: Option<String>,
    pub(crate) nickname: Option<String>,
    pub(crate) slug: Option<String>,
    pub(crate) roles: Option<Vec<String>>,
    pub(crate) password: Option<Secret>,
    pub(crate) meta: Option<Value>,
}
