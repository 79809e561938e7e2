//! Comments posted with the form of an HTML page: the rules of the form, then the same write as the REST API's.
//!
//! Source: `wp_handle_comment_submission`, compared with a running WordPress.

use std::{net::IpAddr, sync::Arc};

use svc_auth::caps::PostCap;
use svc_model::{Comment, CommentId, Post, PostId};
use svc_schema::Error;
use svc_store::{Db, Tx, comments, posts};
use svc_versions::Context;

use crate::{
    Access, Settings, Site, SiteResult, Visitor,
    comments::{
        draft::CommentDraft,
        save::{SaveComment, accepts_comments, truncate_to_seconds},
    },
    permalinks,
};

/// The fields of the form.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// ID of the post.
    pub post: i64,
    /// ID of the comment that this one replies to; zero for none.
    pub parent: i64,
    /// The guest's name.
    pub author: String,
    /// The guest's e-mail address.
    pub email: String,
    /// URL of the guest's website.
    pub url: String,
    /// The text.
    pub content: String,
}

/// The author of the submission and their client.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The user, and the password-protected posts that they have unlocked.
    pub visitor: Visitor,
    /// The client's IP address.
    pub ip: IpAddr,
    /// The `User-Agent` header.
    pub agent: String,
}

/// A comment that was stored.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The comment.
    pub comment: Comment,
    /// URL of the comment on its post's page.
    pub link: String,
    /// Proves to the page that the guest wrote this comment while it awaits moderation.
    pub moderation_hash: String,
}

/// Why a comment was not stored.
#[derive(Clone, Debug)]
pub enum SubmissionError {
    /// Rejected with this status and message.
    Rejected(u16, String),
    /// Rejected without a message: the existence of non-public posts is not disclosed.
    Silent,
    /// An internal error.
    Failed(Error),
}

impl From<Error> for SubmissionError {
    fn from(error: Error) -> Self {
        SubmissionError::Failed(error)
    }
}

/// A refusal with a message for the visitor.
fn rejected<T>(status: u16, text: &str) -> Result<T, SubmissionError> {
    Err(SubmissionError::Rejected(status, text.to_owned()))
}

/// Stores a comment that was posted with the form.
///
/// # Errors
/// See [`SubmissionError`].
pub async fn submit(
    cx: &Context,
    site: &Arc<Site>,
    submission: Submission,
    sender: Sender,
) -> Result<Submitted, SubmissionError> {
    let checked = site.read(cx, |db| {
        let settings = site.settings_in(db)?;
        let post = check_post(db, site, &settings, &submission, &sender.visitor)?;
        Ok((settings, post))
    });
    let (settings, post) = checked?;
    let post = post?;
    let is_guest = !sender.visitor.caller.is_logged_in();
    let author = svc_text::trim(&svc_text::strip_tags(&submission.author)).to_owned();
    let email = svc_text::trim(&submission.email).to_owned();
    if is_guest && settings.number("comment_registration") != 0 {
        return rejected(403, "Log in to post a comment.");
    }
    if is_guest && settings.number("require_name_email") != 0 {
        if author.is_empty() || email.is_empty() {
            return rejected(200, "Your name and e-mail address are required.");
        }
        if !svc_text::is_email(&email) {
            return rejected(200, "The e-mail address is not valid.");
        }
    }
    let content = svc_text::trim(&submission.content).to_owned();
    if content.is_empty() {
        return rejected(200, "The comment has no text.");
    }
    let of_guest = |text: String| is_guest.then_some(text);
    let draft = CommentDraft {
        author_name: of_guest(author),
        author_email: of_guest(email),
        author_url: of_guest(svc_text::trim(&submission.url).to_owned()),
        content: Some(content),
        parent: Some(submission.parent),
        post: Some(post.id.0),
        ..CommentDraft::default()
    };
    let job = SaveComment {
        site: Arc::clone(site),
        settings: Arc::clone(&settings),
        caller: sender.visitor.caller.clone(),
        draft,
        kind: "comment".to_owned(),
        ip: sender.ip.to_string(),
        agent: sender.agent,
        now: truncate_to_seconds(site.clock()),
        is_form: true,
    };
    let context = (Arc::clone(site), Arc::clone(&settings));
    let write = move |tx: &mut Tx| {
        // The post may have been deleted, trashed or closed in the meantime.
        Ok(match check_post(tx, &context.0, &context.1, &submission, &sender.visitor)? {
            Ok(post) => Ok(job.insert(tx, &post)?),
            Err(refusal) => Err(refusal),
        })
    };
    let comment = site.write(cx, write).await.map_err(refused)??;
    let permalink = site
        .read(cx, |db| Ok(permalinks::of_posts(db, site, &settings, std::slice::from_ref(&post))?.remove(&post.id)))?;
    let date = comment.date_gmt.map(|date| date.format("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default();
    Ok(Submitted {
        link: format!("{}#comment-{}", permalink.unwrap_or_default(), comment.id),
        moderation_hash: site.hash(date.as_bytes()),
        comment,
    })
}

/// An error of the REST API as a refusal of the form.
fn refused(error: Error) -> SubmissionError {
    let status = match error.code() {
        "comment_duplicate" => 409,
        "comment_flood" => 429,
        code if code.ends_with("_column_length") => 200,
        _ => return SubmissionError::Failed(error),
    };
    SubmissionError::Rejected(status, error.message().to_owned())
}

/// The post, if it accepts a comment from this visitor.
fn check_post(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    submission: &Submission,
    visitor: &Visitor,
) -> SiteResult<Result<Post, SubmissionError>> {
    if submission.parent > 0 {
        let parent = comments::get(db, CommentId(submission.parent))?;
        if parent.is_none_or(|parent| parent.approved != "1") {
            return Ok(rejected(403, "You cannot reply to a comment that is not approved."));
        }
    }
    let found = if submission.post > 0 { posts::get(db, PostId(submission.post))? } else { None };
    let Some(post) = found.filter(|post| !post.comment_status.is_empty()) else {
        return Ok(Err(SubmissionError::Silent));
    };
    let access = Access::of_posts(site, settings, db, std::slice::from_ref(&post))?;
    let parent = if post.status == "inherit" && !post.parent.is_none() { posts::get(db, post.parent)? } else { None };
    let status = match (&parent, post.status.as_str()) {
        (Some(parent), _) => parent.status.clone(),
        (None, "inherit") => "publish".to_owned(),
        (None, status) => status.to_owned(),
    };
    let caller = &visitor.caller;
    let may_read = caller.is_logged_in() && caller.can_post(PostCap::Read, &post, &access);
    drop(access);
    if status == "private" && !may_read {
        return Ok(Err(SubmissionError::Silent));
    }
    if !accepts_comments(&post, settings, site.clock()) {
        return Ok(rejected(403, "Comments on this post are closed."));
    }
    let kind = site.registries.statuses.get(&status);
    if status == "trash" {
        return Ok(Err(SubmissionError::Silent));
    }
    if !kind.is_some_and(|kind| kind.public || kind.private) {
        return Ok(if may_read {
            rejected(403, "This post is not published and does not accept comments.")
        } else {
            Err(SubmissionError::Silent)
        });
    }
    if !visitor.unlocked.is_open(&post) {
        return Ok(Err(SubmissionError::Silent));
    }
    Ok(Ok(post))
}
