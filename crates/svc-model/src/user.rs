//! A stored user.

use crate::{Timestamp, UserId};

/// A row of the `users` table. `pass` is the password hash and is never sent to clients.
#[derive(Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are the table's columns")]
pub struct User {
    pub id: UserId,
    pub login: String,
    pub pass: String,
    pub nicename: String,
    pub email: String,
    pub url: String,
    /// In UTC.
    pub registered: Timestamp,
    pub activation_key: String,
    pub status: i64,
    pub display_name: String,
}

/// Omits the password hash and the activation key, so that logs contain no secrets.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("id", &self.id).field("login", &self.login).finish_non_exhaustive()
    }
}
