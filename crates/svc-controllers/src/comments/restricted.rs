//! Fields of a comment that need more than the right to write it: another author or address, a status, the type, the post.

use serde_json::Value;
use svc_model::Post;
use svc_php::cast::truthy;
use svc_resource::Typed;
use svc_routing::{Request, Result};
use svc_site::comments::draft::CommentDraft;

use super::{errors, rights::CommentViewer};
use crate::request::client_address;

/// The type of a new comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewType {
    Comment,
    Note,
    /// One that a request cannot create.
    Other,
}

impl NewType {
    /// The type of a comment with this draft.
    pub(super) fn of(draft: &CommentDraft) -> Self {
        match &draft.comment_type {
            Some(Value::String(name)) if name == "note" => NewType::Note,
            Some(sent) if truthy(sent) && sent != "comment" => NewType::Other,
            _ => NewType::Comment,
        }
    }
}

/// Checks what only moderators may set in a new comment. Notes require permission to edit the post.
pub(super) fn check(
    req: &Request,
    draft: &Typed<CommentDraft>,
    viewer: &CommentViewer<'_>,
    post: Option<&Post>,
) -> Result<()> {
    let moderates = viewer.moderates();
    let CommentDraft { author, author_ip, status, .. } = draft.values();
    if author.is_some_and(|author| author != viewer.caller.id.0) && !moderates {
        return Err(errors::invalid_author(req));
    }
    let is_own_address = |ip: &String| *ip == client_address(req).to_string();
    let has_other_address = !author_ip.as_ref().is_none_or(is_own_address) || draft.has_mismatch("author_ip");
    if has_other_address && !moderates {
        return Err(errors::invalid_author_ip(req));
    }
    let is_note = NewType::of(draft.values()) == NewType::Note;
    let edits_post = post.is_some_and(|post| viewer.can_edit_post(post));
    if is_note && post.is_some() && !edits_post {
        return Err(errors::cannot_create_note(req));
    }
    let may_set_status = if is_note && post.is_some() { edits_post } else { moderates };
    if status.is_some() && !may_set_status {
        return Err(errors::invalid_status(req));
    }
    Ok(())
}
