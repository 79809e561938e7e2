//! A user as stored.

use crate::{Stamp, UserId};

/// A row of `users`. `pass` is the password's hash and never leaves the server.
#[derive(Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the members are the columns")]
pub struct User {
    pub id: UserId,
    pub login: String,
    pub pass: String,
    pub nicename: String,
    pub email: String,
    pub url: String,
    /// In UTC.
    pub registered: Stamp,
    pub activation_key: String,
    pub status: i64,
    pub display_name: String,
}

/// Leaves hashes and keys out, so that a logged user tells no secret.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("id", &self.id).field("login", &self.login).finish_non_exhaustive()
    }
}
