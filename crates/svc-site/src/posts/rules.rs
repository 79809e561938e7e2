//! What becomes of a post when a draft is put on it: dates, status, slug and texts. Pure: the clock and the rights come in.

use chrono::{Datelike as _, NaiveDateTime, TimeDelta};
use svc_model::{Post, PostType, Stamp, UserId};
use svc_schema::Error;

use crate::{Settings, errors::posts as errors, posts::draft::PostDraft, sanitize};

/// Statuses whose date moves along until the post is published.
pub fn is_floating(status: &str) -> bool {
    matches!(status, "draft" | "pending" | "auto-draft")
}

/// Who writes, and when.
pub struct Writer {
    /// The caller.
    pub id: UserId,
    /// May use any HTML.
    pub unfiltered_html: bool,
    /// May publish posts of this type.
    pub publishes: bool,
    /// The present moment in UTC.
    pub now: NaiveDateTime,
}

/// Puts a draft on a post: the new row, its slug not yet made unique.
///
/// `existing` is the row to change, `None` to create one.
///
/// # Errors
/// `rest_cannot_publish`, `rest_invalid_field` and `empty_content` as the peer.
pub fn apply(
    existing: Option<&Post>,
    draft: &PostDraft,
    post_type: &PostType,
    settings: &Settings,
    writer: &Writer,
) -> Result<Post, Error> {
    let mut post = existing.cloned().unwrap_or_else(|| blank(post_type, settings, writer));
    let was = existing.map(|p| p.status.clone());

    texts(&mut post, draft, writer);
    if let Some(status) = draft.status.as_ref().filter(|s| Some(*s) != was.as_ref()) {
        if refuses_status(draft, was.as_deref(), writer) {
            return Err(errors::cannot_publish());
        }
        post.status.clone_from(status);
    }
    // Attachments are as visible as what they hang on, or private.
    if post.post_type == "attachment" && !matches!(post.status.as_str(), "private" | "trash" | "auto-draft") {
        "inherit".clone_into(&mut post.status);
    }
    guard_password(&mut post, draft, settings)?;
    if post.status == "private" {
        // What only few may read needs no password.
        post.password.clear();
    }
    if let Some(author) = draft.author.filter(|author| *author != 0) {
        post.author = UserId(author);
    }
    if let Some(parent) = draft.parent {
        post.parent = svc_model::PostId(parent);
    }
    if let Some(parent) = draft.attached_to {
        post.parent = svc_model::PostId(parent);
    }
    if let Some(file) = &draft.file {
        post.mime_type.clone_from(&file.mime_type);
        post.guid.clone_from(&file.url);
    }
    if let Some(order) = draft.menu_order {
        post.menu_order = order;
    }
    if let Some(status) = &draft.comment_status {
        post.comment_status.clone_from(status);
    }
    if let Some(status) = &draft.ping_status {
        post.ping_status.clone_from(status);
    }
    dates(&mut post, existing, draft, settings, writer.now);
    if matches!(post.date, Stamp::Some(date) if date.year() < 1) {
        return Err(errors::invalid_date());
    }
    // The peer cleans it with every change, which escapes its ampersands. What is no address stays as it is.
    let guid = svc_text::esc_url(&post.guid);
    if !guid.is_empty() {
        post.guid = guid;
    }
    if is_empty(&post, post_type) {
        return Err(errors::empty_content());
    }
    slug(&mut post, draft, writer);
    Ok(post)
}

/// Whether a draft gives a post a status, other than the one that it had, that takes the right to publish.
pub fn refuses_status(draft: &PostDraft, was: Option<&str>, writer: &Writer) -> bool {
    let given = draft.status.as_deref().filter(|status| Some(*status) != was);
    matches!(given, Some("private" | "publish" | "future")) && !writer.publishes
}

fn blank(post_type: &PostType, settings: &Settings, writer: &Writer) -> Post {
    let open = |by_default: &str, feature: &str| {
        if post_type.name != "page" && post_type.supports(feature) { by_default } else { "closed" }.to_owned()
    };
    Post {
        author: writer.id,
        status: "draft".to_owned(),
        comment_status: open(&settings.default_comment_status, "comments"),
        ping_status: open(&settings.default_ping_status, "trackbacks"),
        post_type: post_type.name.clone(),
        ..Post::default()
    }
}

fn texts(post: &mut Post, draft: &PostDraft, writer: &Writer) {
    let filtered = !writer.unfiltered_html;
    // Whoever may not use any HTML cannot leave another's in a post that he saves either.
    let save = |kept: &mut String, given: &Option<String>, clean: fn(&str, bool) -> String| match given {
        Some(text) => *kept = clean(text, filtered),
        None if filtered => *kept = clean(kept, filtered),
        None => {}
    };
    save(&mut post.title, &draft.title, sanitize::title);
    save(&mut post.content, &draft.content, sanitize::content);
    save(&mut post.excerpt, &draft.excerpt, sanitize::excerpt);
}

/// A post cannot be sticky and guarded by a password at once.
fn guard_password(post: &mut Post, draft: &PostDraft, settings: &Settings) -> Result<(), Error> {
    if draft.sticky == Some(true) && post.is_protected() {
        // Even when the same request takes the password away.
        return Err(errors::sticky_and_password());
    }
    if let Some(password) = &draft.password {
        // Also when the same request makes it no longer sticky.
        let is_sticky = !post.id.is_none() && settings.sticky.contains(&post.id);
        if !password.is_empty() && (draft.sticky == Some(true) || is_sticky) {
            return Err(errors::sticky_and_password());
        }
        post.password.clone_from(password);
    }
    Ok(())
}

fn is_empty(post: &Post, post_type: &PostType) -> bool {
    ["title", "editor", "excerpt"].iter().all(|f| post_type.supports(f))
        && post.title.is_empty()
        && post.content.is_empty()
        && post.excerpt.is_empty()
}

/// Dates and the statuses that hang on them.
///
/// A draft that was never dated is stored without a UTC date, and its local date moves to the present with every change.
fn dates(post: &mut Post, existing: Option<&Post>, draft: &PostDraft, settings: &Settings, now: NaiveDateTime) {
    let local_now = settings.zone.to_local(now);
    let mut dated = false;
    match (&draft.date, &draft.date_gmt) {
        // Null counts more than a date beside it.
        (Some(None), _) | (_, Some(None)) => {
            post.date = None;
            post.date_gmt = None;
        }
        // A date that the post has already changes nothing, though its local time may name two moments.
        (Some(Some(text)), _) => {
            let given = settings.zone.pair(text, false).filter(|(local, _)| post.date != Some(*local));
            dated = put(post, given);
        }
        (_, Some(Some(text))) => {
            let given = settings.zone.pair(text, true).filter(|(_, utc)| post.date_gmt != Some(*utc));
            dated = put(post, given);
        }
        (None, None) => {}
    }
    let floats = existing.is_none_or(|p| is_floating(&p.status) && p.date_gmt.is_none());
    if (floats && !dated) || post.date.is_none() {
        post.date = Some(local_now);
        post.date_gmt = None;
    }
    if post.date_gmt.is_none() && !is_floating(&post.status) {
        post.date_gmt = post.date.map(|local| settings.zone.to_utc(local));
    }
    if let Some(at) = post.date_gmt {
        let ahead = at - now >= TimeDelta::minutes(1);
        if post.status == "publish" && ahead {
            "future".clone_into(&mut post.status);
        } else if post.status == "future" && !ahead {
            "publish".clone_into(&mut post.status);
        }
    }
    if existing.is_some() {
        post.modified = Some(local_now);
        post.modified_gmt = Some(now);
    } else {
        post.modified = post.date;
        post.modified_gmt = post.date_gmt;
    }
}

fn put(post: &mut Post, pair: Option<(NaiveDateTime, NaiveDateTime)>) -> bool {
    let Some((local, utc)) = pair else { return false };
    post.date = Stamp::Some(local);
    post.date_gmt = Stamp::Some(utc);
    true
}

/// The slug that the draft gives, or one made of the title when the post needs one. A contributor's pending post has
/// none until somebody publishes it.
fn slug(post: &mut Post, draft: &PostDraft, writer: &Writer) {
    if let Some(slug) = &draft.slug {
        post.slug = svc_text::sanitize_title(slug);
    }
    if post.slug.is_empty() && !is_floating(&post.status) {
        post.slug = svc_text::sanitize_title(&post.title);
    }
    if post.status == "pending" && !writer.publishes {
        post.slug.clear();
    }
}
