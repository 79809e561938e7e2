//! Loads revisions and their posts by the ids of a route.

use svc_model::{Post, PostId, PostType};
use svc_site::SiteResult;
use svc_store::{Db, posts};

use crate::errors;

/// The post of this type whose revisions are requested.
///
/// # Errors
/// `rest_post_invalid_parent` (404).
pub(crate) fn parent(db: &mut Db, post_type: &PostType, id: PostId) -> SiteResult<Post> {
    let found = if id.0 > 0 { posts::get(db, id)? } else { None };
    found.filter(|post| post.post_type == post_type.name).ok_or_else(|| errors::invalid_revision_parent().into())
}

/// A revision of any post.
///
/// # Errors
/// `rest_post_invalid_id` (404).
pub(crate) fn any_revision(db: &mut Db, id: PostId) -> SiteResult<Post> {
    let found = if id.0 > 0 { posts::get(db, id)? } else { None };
    found.filter(|post| post.post_type == "revision").ok_or_else(|| errors::revision_not_found().into())
}

/// A revision of this post.
///
/// # Errors
/// `rest_post_invalid_id` and `rest_revision_parent_id_mismatch` (404).
pub(crate) fn revision(db: &mut Db, parent: PostId, id: PostId) -> SiteResult<Post> {
    let revision = any_revision(db, id)?;
    if revision.parent == parent { Ok(revision) } else { Err(errors::not_a_revision_of().into()) }
}
