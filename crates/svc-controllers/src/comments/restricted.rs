//! Fields of a comment that need more than the right to write it: another author or address, a status, the type, the post.

use serde_json::Value;
use svc_model::{Post, PostId};
use svc_php::cast::{to_int, truthy};
use svc_resource::{Params, Typed};
use svc_routing::{Request, Result};
use svc_schema::build::{integer, string};

use super::{errors, rights::CommentViewer};
use crate::request::client_address;

/// The type that a request sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentType {
    Comment,
    Note,
    Other,
}

/// The restricted fields of a request. The handler gets those that can be changed, from the same parameters, in the draft.
#[derive(Clone, Debug, Default)]
pub(super) struct RestrictedFields {
    pub(super) post: Option<PostId>,
    author: Option<i64>,
    author_ip: Option<String>,
    sets_status: bool,
    pub(super) comment_type: Option<SentType>,
}

/// The restricted parameters. Numbers are converted as PHP does: in requests for lists, for which a permission computes `Allow`, they are lists.
pub(super) fn params() -> Params<RestrictedFields> {
    let mut p = Params::<RestrictedFields>::new("comments");
    p.add("post", integer()).set(|restricted, id: Value| restricted.post = Some(PostId(to_int(&id))));
    p.add("author", integer()).set(|restricted, id: Value| restricted.author = Some(to_int(&id)));
    p.add("author_ip", string()).set(|restricted, ip| restricted.author_ip = Some(ip));
    p.add("status", string()).set(|restricted, _: Value| restricted.sets_status = true);
    p.add("type", string()).set(|restricted, value: Value| {
        restricted.comment_type = match value.as_str() {
            Some("comment") => Some(SentType::Comment),
            Some("note") => Some(SentType::Note),
            _ if truthy(&value) => Some(SentType::Other),
            _ => None,
        };
    });
    p
}

impl RestrictedFields {
    pub(super) fn is_note(&self) -> bool {
        self.comment_type == Some(SentType::Note)
    }
}

/// Checks what only moderators may set in a new comment. Notes require permission to edit the post.
pub(super) fn check(
    req: &Request,
    restricted: &Typed<RestrictedFields>,
    viewer: &CommentViewer<'_>,
    post: Option<&Post>,
) -> Result<()> {
    let moderates = viewer.moderates();
    let RestrictedFields { author, author_ip, sets_status, .. } = restricted.values();
    if author.is_some_and(|author| author != viewer.caller.id.0) && !moderates {
        return Err(errors::invalid_author(req));
    }
    let is_own_address = |ip: &String| *ip == client_address(req).to_string();
    let has_other_address = !author_ip.as_ref().is_none_or(is_own_address) || restricted.has_mismatch("author_ip");
    if has_other_address && !moderates {
        return Err(errors::invalid_author_ip(req));
    }
    let is_note = restricted.values().is_note();
    let edits_post = post.is_some_and(|post| viewer.can_edit_post(post));
    if is_note && post.is_some() && !edits_post {
        return Err(errors::cannot_create_note(req));
    }
    let may_set_status = if is_note && post.is_some() { edits_post } else { moderates };
    if *sets_status && !may_set_status {
        return Err(errors::invalid_status(req));
    }
    Ok(())
}
