//! A user to be stored.

use serde_json::Value;
use svc_auth::Secret;

/// The fields that a request changes; `None` leaves a field unchanged. `Debug` hides the password.
#[derive(Clone, Debug, Default)]
pub struct UserDraft {
    pub username: Option<String>,
    pub name: Option<String>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub email: Option<String>,
    pub url: Option<String>,
    pub description: Option<String>,
    pub locale: Option<String>,
    pub nickname: Option<String>,
    pub slug: Option<String>,
    pub roles: Option<Vec<String>>,
    pub password: Option<Secret>,
    pub meta: Option<Value>,
}
