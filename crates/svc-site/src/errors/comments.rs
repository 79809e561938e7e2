//! Errors of comments.

use svc_schema::Error;

use super::error;

errors! {
    /// No comment has this id.
    not_found = 404 "rest_comment_invalid_id" "Comment not found.";

    /// The post of a comment no longer exists.
    post_is_gone = 404 "rest_post_invalid_id" "Post not found.";

    /// Posts of this type do not support notes.
    notes_not_supported = 403 "rest_comment_not_supported_post_type" "Posts of this type do not support notes.";

    /// Guests may not comment.
    login_required = 401 "rest_comment_login_required" "Log in to comment.";

    /// The post of a new comment must exist.
    invalid_post = 403 "rest_comment_invalid_post_id" "A comment requires an existing post.";

    /// Drafts do not accept comments.
    draft_post = 403 "rest_comment_draft_post" "Drafts do not accept comments.";

    /// Posts in the trash do not accept comments.
    trashed_post = 403 "rest_comment_trash_post" "Posts in the trash do not accept comments.";

    /// Comments are closed.
    closed = 403 "rest_comment_closed" "Comments on this post are closed.";

    /// A request to create a comment contained an id.
    exists = 400 "rest_comment_exists" "A new comment cannot have an id. To update a comment, send the request to the comment's own URL.";

    /// Only comments and notes can be created.
    invalid_type = 400 "rest_invalid_comment_type" "Comments of this type cannot be created.";

    /// The type of a comment cannot change.
    type_is_fixed = 404 "rest_comment_invalid_type" "The type of a comment cannot be changed.";

    /// The comment has no content.
    no_content = 400 "rest_comment_content_invalid" "A comment requires content.";

    /// The site requires the author's name and e-mail address.
    author_data_required = 400 "rest_comment_author_data_required" "The author's name and e-mail address are required.";

    /// The author is not a user.
    unknown_author = 400 "rest_comment_author_invalid" "The author does not exist.";

    /// The same author has already posted the same comment in the same place.
    duplicate = 409 "comment_duplicate" "This comment has already been posted.";

    /// Comments by one author arrive too quickly.
    flood = 400 "comment_flood" "You are commenting too quickly. Wait a moment.";

    /// The comment is already in the trash.
    already_trashed = 410 "rest_already_trashed" "The comment is already in the trash.";
}

/// A field is longer than its column; `code` names the field.
pub fn too_long(code: &'static str) -> Error {
    error(code, "A field of the comment is too long.", 400)
}
