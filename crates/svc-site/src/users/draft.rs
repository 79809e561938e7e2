//! A user to be stored.

use serde_json::Value;
use svc_auth::Secret;

/// The fields that a request changes; `None` leaves a field unchanged. `Debug` hides the password.
#[derive(Clone, Debug, Default)]
pub struct UserDraft {
    /// Login; only for new users.
    pub username: Option<String>,
    /// Display name.
    pub name: Option<String>,
    /// First name.
    pub first_name: Option<String>,
    /// Last name.
    pub last_name: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// URL of the user's website.
    pub url: Option<String>,
    /// Biography.
    pub description: Option<String>,
    /// Locale; empty for the site's.
    pub locale: Option<String>,
    /// Nickname.
    pub nickname: Option<String>,
    /// Slug.
    pub slug: Option<String>,
    /// Names of the roles.
    pub roles: Option<Vec<String>>,
    /// New password.
    pub password: Option<Secret>,
    /// Meta fields by name.
    pub meta: Option<Value>,
}
