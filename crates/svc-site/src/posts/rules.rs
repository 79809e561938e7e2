//! Rules for applying a draft to a post: dates, status, slug and texts. Pure functions: clock and permissions are
//! arguments.

use chrono::{Datelike as _, NaiveDateTime, TimeDelta};
use svc_model::{Post, PostType, Timestamp, UserId};
use svc_schema::Error;

use crate::{
    Settings,
    errors::posts as errors,
    posts::draft::{FieldChange, PostDraft},
    sanitize,
};

/// Statuses of posts whose date is not fixed until they are published.
pub(crate) fn is_floating(status: &str) -> bool {
    matches!(status, "draft" | "pending" | "auto-draft")
}

/// The author of a change and its time.
#[derive(Clone)]
pub struct ChangeAuthor {
    /// The caller.
    pub id: UserId,
    /// Whether the caller may use any HTML.
    pub unfiltered_html: bool,
    /// Whether the caller may publish posts of this type.
    pub publishes: bool,
    /// Whether the caller may set the slug of the post while it is pending.
    pub names_pending: bool,
    /// Current time in UTC.
    pub now: NaiveDateTime,
}

/// Applies a draft to a post and returns the new row; its slug is not yet unique.
///
/// `existing` is the row to update, `None` to create one.
///
/// # Errors
/// `rest_cannot_publish`, `rest_invalid_field` and `empty_content`, as in WordPress.
pub fn apply(
    existing: Option<&Post>,
    draft: &PostDraft,
    post_type: &PostType,
    settings: &Settings,
    writer: &ChangeAuthor,
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
    // Attachments inherit the visibility of the post that they are attached to, or are private.
    if post.post_type == "attachment" && !matches!(post.status.as_str(), "private" | "trash" | "auto-draft") {
        "inherit".clone_into(&mut post.status);
    }
    guard_password(&mut post, draft, settings)?;
    if post.status == "private" {
        // Private posts have no password.
        post.password.clear();
    }
    if let Some(author) = draft.author.filter(|author| *author != 0) {
        post.author = UserId(author);
    }
    if let Some(parent) = draft.parent {
        post.parent = svc_model::PostId(parent);
    }
    if let Some(parent) = draft.unchecked_parent {
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
    if matches!(post.date, Timestamp::Some(date) if date.year() < 1) {
        return Err(errors::invalid_date());
    }
    sanitize_guid(&mut post);
    if is_empty(&post, post_type) {
        return Err(errors::empty_content());
    }
    slug(&mut post, draft, writer);
    Ok(post)
}

/// Sanitizes the GUID as every change of a post in WordPress does, which escapes its ampersands. An invalid URL is left
/// unchanged.
pub(crate) fn sanitize_guid(post: &mut Post) {
    let guid = svc_text::esc_url(&post.guid);
    if !guid.is_empty() {
        post.guid = guid.into_string();
    }
}

/// Whether a draft changes the status to one that requires the permission to publish.
pub(crate) fn refuses_status(draft: &PostDraft, was: Option<&str>, writer: &ChangeAuthor) -> bool {
    let status = draft.status.as_deref().filter(|status| Some(*status) != was);
    matches!(status, Some("private" | "publish" | "future")) && !writer.publishes
}

fn blank(post_type: &PostType, settings: &Settings, writer: &ChangeAuthor) -> Post {
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

fn texts(post: &mut Post, draft: &PostDraft, writer: &ChangeAuthor) {
    let filtered = !writer.unfiltered_html;
    // Users who may not use any HTML also filter other users' texts when they save a post.
    let save = |stored: &mut String, new: &Option<String>, clean: fn(&str, bool) -> String| match new {
        Some(text) => *stored = clean(text, filtered),
        None if filtered => *stored = clean(stored, filtered),
        None => {}
    };
    save(&mut post.title, &draft.title, sanitize::title);
    save(&mut post.content, &draft.content, sanitize::content);
    save(&mut post.excerpt, &draft.excerpt, sanitize::excerpt);
}

/// Rejects posts that are both sticky and password protected.
fn guard_password(post: &mut Post, draft: &PostDraft, settings: &Settings) -> Result<(), Error> {
    if draft.sticky == Some(true) && post.is_protected() {
        // This includes requests that remove the password.
        return Err(errors::sticky_and_password());
    }
    if let Some(password) = &draft.password {
        // This includes requests that make the post not sticky.
        let is_sticky = !post.id.is_none() && settings.sticky.contains(&post.id);
        if !password.is_empty() && (draft.sticky == Some(true) || is_sticky) {
            return Err(errors::sticky_and_password());
        }
        post.password.clone_from(password);
    }
    Ok(())
}

/// Whether a post of a type with title, content and excerpt has none of them. As in WordPress, the text `0` counts as
/// none.
fn is_empty(post: &Post, post_type: &PostType) -> bool {
    ["title", "editor", "excerpt"].iter().all(|f| post_type.supports(f)) && has_no_text(post)
}

/// Whether title, content and excerpt are empty or `0`.
pub fn has_no_text(post: &Post) -> bool {
    [&post.title, &post.content, &post.excerpt].iter().all(|text| matches!(text.as_str(), "" | "0"))
}

/// Sets dates and the statuses that depend on them.
///
/// A draft without a set date is stored without a UTC date, and every change sets its local date to the current time.
fn dates(post: &mut Post, existing: Option<&Post>, draft: &PostDraft, settings: &Settings, now: NaiveDateTime) {
    let local_now = settings.zone.to_local(now);
    let mut dated = false;
    match (&draft.date, &draft.date_gmt) {
        // Null takes precedence over a date in the other field.
        (FieldChange::Clear, _) | (_, FieldChange::Clear) => {
            post.date = None;
            post.date_gmt = None;
        }
        // An unchanged date is ignored, because its local time may be ambiguous.
        (FieldChange::Set(text), _) => {
            let dates = settings.zone.parse(text, false).filter(|(local, _)| post.date != Some(*local));
            dated = set_dates(post, dates);
        }
        (FieldChange::Keep, FieldChange::Set(text)) => {
            let dates = settings.zone.parse(text, true).filter(|(_, utc)| post.date_gmt != Some(*utc));
            dated = set_dates(post, dates);
        }
        (FieldChange::Keep, FieldChange::Keep) => {}
    }
    let floats = existing.is_none_or(|p| is_floating(&p.status) && p.date_gmt.is_none());
    if (floats && !dated) || post.date.is_none() {
        post.date = Some(local_now);
        post.date_gmt = None;
    }
    if draft.redated && existing.is_some() {
        post.date = Some(local_now);
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

fn set_dates(post: &mut Post, pair: Option<(NaiveDateTime, NaiveDateTime)>) -> bool {
    let Some((local, utc)) = pair else { return false };
    post.date = Timestamp::Some(local);
    post.date_gmt = Timestamp::Some(utc);
    true
}

/// The draft's slug, or one generated from the title if the post needs a slug. A contributor's pending post gets none
/// until it is published. As in WordPress, the slug `0` counts as none, but a title may yield it.
fn slug(post: &mut Post, draft: &PostDraft, writer: &ChangeAuthor) {
    if let Some(slug) = &draft.slug {
        post.slug = svc_text::sanitize_title(slug);
    }
    if post.slug == "0" || (post.status == "pending" && !writer.names_pending) {
        post.slug.clear();
    }
    if post.slug.is_empty() && !is_floating(&post.status) {
        // WordPress uses the slashed title, in which NUL is `\0`.
        post.slug = svc_text::sanitize_title(&svc_text::slash(&post.title));
    }
}
