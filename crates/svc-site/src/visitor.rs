//! The visitor of a page: the caller, and the password-protected posts that they have unlocked.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use svc_auth::{Caller, password};
use svc_model::{Post, PostId};

/// Maximum number of passwords whose result is cached per visitor.
const MAX_TRIED: usize = 100;

/// The visitor of a page.
#[derive(Clone, Debug, Default)]
pub struct Visitor {
    /// The user; anonymous without a valid cookie.
    pub caller: Caller,
    /// The nonce of the logout link.
    pub logout_nonce: String,
    /// The password-protected posts that the visitor has unlocked.
    pub unlocked: UnlockedPosts,
}

/// The cookie that unlocks password-protected posts. Cheap to clone; `Debug` does not show the value.
#[derive(Clone, Default)]
pub struct UnlockedPosts {
    cookie: Arc<str>,
    /// Results by password, because checking a hash is slow.
    tried: Arc<Mutex<HashMap<String, bool>>>,
    /// The post that a preview link shows.
    previewed: Option<PostId>,
}

impl UnlockedPosts {
    /// Reads the cookie's value; empty if there is no cookie.
    pub fn from_cookie(cookie: &str) -> Self {
        UnlockedPosts { cookie: cookie.into(), ..Self::default() }
    }

    /// Unlocks the post that a preview link shows.
    #[must_use]
    pub fn with_preview(self, post: PostId) -> Self {
        UnlockedPosts { previewed: Some(post), ..self }
    }

    /// Whether a preview link shows this post to the visitor, whatever its status.
    pub fn is_previewed(&self, post: &Post) -> bool {
        self.previewed == Some(post.id)
    }

    /// Whether the visitor has entered any password. Pages rendered for them may then be specific to them.
    pub fn is_any(&self) -> bool {
        !self.cookie.is_empty()
    }

    /// Whether the post has no password or the visitor has entered it.
    pub fn is_open(&self, post: &Post) -> bool {
        let needed = post.password.as_str();
        // PHP treats "0" as empty.
        if matches!(needed, "" | "0") || self.is_previewed(post) {
            return true;
        }
        if self.cookie.is_empty() {
            return false;
        }
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tried.get(needed) {
            return *known;
        }
        let opens = password::unlocks_post(&self.cookie, needed.as_bytes());
        if tried.len() < MAX_TRIED {
            tried.insert(needed.to_owned(), opens);
        }
        opens
    }
}

impl fmt::Debug for UnlockedPosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnlockedPosts").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_unlocks_posts_with_its_password() {
        let post = |password: &str| Post { password: password.to_owned(), ..Post::default() };
        let anonymous = UnlockedPosts::default();
        let visitor = UnlockedPosts::from_cookie(&password::post_password_cookie(b"let me in").unwrap());
        for (password, by_anonymous, by_visitor) in
            [("", true, true), ("0", true, true), ("let me in", false, true), ("other", false, false)]
        {
            let post = post(password);
            for _ in 0..2 {
                assert_eq!(
                    (anonymous.is_open(&post), visitor.is_open(&post)),
                    (by_anonymous, by_visitor),
                    "{password}"
                );
            }
        }
        assert!(!format!("{visitor:?}").contains("$P$"));
    }
}
