//! Comments that visitors write with the form on a page: the rules of the form, then the same write as the REST API's.
//!
//! Source: `wp_handle_comment_submission`, compared on a running WordPress.

use std::{net::IpAddr, sync::Arc};

use svc_auth::caps::PostCap;
use svc_model::{Comment, CommentId, Post, PostId};
use svc_schema::Error;
use svc_store::{Db, Tx, comments, posts};

use crate::{
    Access, Settings, Site, SiteResult, Visitor,
    comments::{
        draft::CommentDraft,
        save::{Job, takes_comments, whole_seconds},
    },
    permalinks,
};

/// What the form was sent with.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// ID of the post.
    pub post: i64,
    /// ID of the comment that is replied to; zero for none.
    pub parent: i64,
    /// The guest's name.
    pub author: String,
    /// The guest's e-mail address.
    pub email: String,
    /// URL of the guest's own page.
    pub url: String,
    /// The text.
    pub content: String,
}

/// Who sent it, and from where.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The user, and the posts that they have opened.
    pub visitor: Visitor,
    /// The IP address.
    pub ip: IpAddr,
    /// The name of the browser.
    pub agent: String,
}

/// A comment that was stored.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The comment.
    pub comment: Comment,
    /// URL of the comment on its post's page.
    pub link: String,
    /// What proves to the page that the guest wrote this comment, while it waits for approval.
    pub moderation_hash: String,
}

/// Why a comment was not stored.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// With this status and this sentence.
    Because(u16, String),
    /// Without a word: what is not public is not confirmed to exist.
    Silent,
    /// The site failed.
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Failed(error)
    }
}

/// A sentence for the visitor.
fn because<T>(status: u16, text: &str) -> Result<T, Refusal> {
    Err(Refusal::Because(status, text.to_owned()))
}

/// Stores the comment of a form.
///
/// # Errors
/// See [`Refusal`].
pub async fn submit(site: &Arc<Site>, given: Submission, sender: Sender) -> Result<Submitted, Refusal> {
    let checked = site.read(|db| {
        let settings = site.settings_in(db)?;
        let post = check_post(db, site, &settings, &given, &sender.visitor)?;
        Ok((settings, post))
    });
    let (settings, post) = checked?;
    let post = post?;
    let is_guest = !sender.visitor.caller.is_logged_in();
    let author = svc_text::trim(&svc_text::strip_tags(&given.author)).to_owned();
    let email = svc_text::trim(&given.email).to_owned();
    if is_guest && settings.number("comment_registration") != 0 {
        return because(403, "You must be logged in to comment.");
    }
    if is_guest && settings.number("require_name_email") != 0 {
        if author.is_empty() || email.is_empty() {
            return because(200, "A comment needs your name and your e-mail address.");
        }
        if !svc_text::is_email(&email) {
            return because(200, "This is not a valid e-mail address.");
        }
    }
    let content = svc_text::trim(&given.content).to_owned();
    if content.is_empty() {
        return because(200, "The comment has no text.");
    }
    let of_guest = |text: String| is_guest.then_some(text);
    let draft = CommentDraft {
        author_name: of_guest(author),
        author_email: of_guest(email),
        author_url: of_guest(svc_text::trim(&given.url).to_owned()),
        content: Some(content),
        parent: Some(given.parent),
        post: Some(post.id.0),
        ..CommentDraft::default()
    };
    let job = Job {
        site: Arc::clone(site),
        settings: Arc::clone(&settings),
        caller: sender.visitor.caller.clone(),
        draft,
        kind: "comment".to_owned(),
        ip: sender.ip.to_string(),
        agent: sender.agent,
        now: whole_seconds(site.now()),
        is_form: true,
    };
    let again = (Arc::clone(site), Arc::clone(&settings));
    let write = move |tx: &mut Tx| {
        // The post may have been deleted, trashed or closed meanwhile.
        Ok(match check_post(tx, &again.0, &again.1, &given, &sender.visitor)? {
            Ok(post) => Ok(job.insert(tx, &post)?),
            Err(refusal) => Err(refusal),
        })
    };
    let comment = site.write(write).await.map_err(refused)??;
    let address =
        site.read(|db| Ok(permalinks::of_posts(db, site, &settings, std::slice::from_ref(&post))?.remove(&post.id)))?;
    let date = comment.date_gmt.map(|date| date.format("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default();
    Ok(Submitted {
        link: format!("{}#comment-{}", address.unwrap_or_default(), comment.id),
        moderation_hash: site.hash(date.as_bytes()),
        comment,
    })
}

/// What the REST API refuses, as the form says it.
fn refused(error: Error) -> Refusal {
    let status = match error.code() {
        "comment_duplicate" => 409,
        "comment_flood" => 429,
        code if code.ends_with("_column_length") => 200,
        _ => return Refusal::Failed(error),
    };
    Refusal::Because(status, error.message().to_owned())
}

/// The post, if it takes a comment from this visitor.
fn check_post(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    given: &Submission,
    visitor: &Visitor,
) -> SiteResult<Result<Post, Refusal>> {
    if given.parent > 0 {
        let parent = comments::get(db, CommentId(given.parent))?;
        if parent.is_none_or(|parent| parent.approved != "1") {
            return Ok(because(403, "Comments that are not approved take no replies."));
        }
    }
    let found = if given.post > 0 { posts::get(db, PostId(given.post))? } else { None };
    let Some(post) = found.filter(|post| !post.comment_status.is_empty()) else { return Ok(Err(Refusal::Silent)) };
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
        return Ok(Err(Refusal::Silent));
    }
    if !takes_comments(&post, settings, site.now()) {
        return Ok(because(403, "This post takes no comments."));
    }
    let kind = site.statuses.get(&status);
    if status == "trash" {
        return Ok(Err(Refusal::Silent));
    }
    if !kind.is_some_and(|kind| kind.public || kind.private) {
        return Ok(if may_read {
            because(403, "This post is not published: it takes no comments.")
        } else {
            Err(Refusal::Silent)
        });
    }
    if !visitor.opened.is_open(&post) {
        return Ok(Err(Refusal::Silent));
    }
    Ok(Ok(post))
}
