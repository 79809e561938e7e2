//! Comments: drafts, moderation, status and storage.

pub mod draft;
pub mod form;
pub mod html;
pub mod moderation;
pub mod notes;
pub mod save;
pub mod status;

use svc_model::{Comment, UserId};

/// Removes what a comment says of the account that wrote it. Guests have written their own names.
pub fn hide_user(comment: &mut Comment) {
    if !comment.user.is_none() {
        comment.user = UserId::default();
        for text in [&mut comment.author, &mut comment.author_email, &mut comment.author_url] {
            text.clear();
        }
    }
}
