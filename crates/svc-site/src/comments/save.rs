//! Stores a comment in one transaction.

use std::sync::Arc;

use chrono::{NaiveDateTime, TimeDelta, Timelike};
use svc_auth::{Caller, caps::Object};
use svc_model::{Comment, CommentId, Post, PostId, UserId};
use svc_store::{Db, MetaKind, Tx, comments, meta, posts, users};

use crate::{
    Access, Settings, Site, SiteResult,
    comments::{draft::CommentDraft, moderation, status},
    errors::comments as errors,
    mail,
    registries::{
        builtin_meta::{NOTE_STATES, NOTE_STATUS},
        meta::{self as registered_meta, MetaRights},
    },
    sanitize,
};

/// A field, its maximum length in bytes, and the error code when it is exceeded.
pub type Limit = (fn(&Comment) -> &str, usize, &'static str);

/// Fields with a maximum length.
pub const LIMITS: [Limit; 4] = [
    (|c| &c.author, 245, "comment_author_column_length"),
    (|c| &c.author_email, 100, "comment_author_email_column_length"),
    (|c| &c.author_url, 200, "comment_author_url_column_length"),
    (|c| &c.content, 65_525, "comment_content_column_length"),
];

/// Maximum number of characters of the user agent that are stored.
pub(crate) const MAX_AGENT: usize = 254;

/// Everything that the transaction needs, so that it can be retried.
pub struct SaveComment {
    /// The site.
    pub site: Arc<Site>,
    /// Its settings.
    pub settings: Arc<Settings>,
    /// The caller.
    pub caller: Caller,
    /// The changes.
    pub draft: CommentDraft,
    /// The type of a new comment.
    pub kind: String,
    /// IP address of the client that sent the request.
    pub ip: String,
    /// User agent of the client.
    pub agent: String,
    /// Current time in UTC.
    pub now: NaiveDateTime,
    /// The comment was posted with the form of an HTML page: its HTML is filtered for every author, before moderation.
    pub is_form: bool,
}

/// Whether a post accepts comments now: it is open, and not too old if the site closes comments on old posts.
pub fn accepts_comments(post: &Post, settings: &Settings, now: NaiveDateTime) -> bool {
    let days = settings.number("close_comments_days_old");
    let closes = settings.number("close_comments_for_old_posts") != 0 && days > 0 && post.post_type == "post";
    let is_old = closes
        && post
            .date_gmt
            .zip(TimeDelta::try_days(days))
            .is_some_and(|(date, age)| now.signed_duration_since(date) > age);
    post.comment_status == "open" && !is_old
}

/// Truncates to whole seconds, as timestamps are stored.
pub fn truncate_to_seconds(time: NaiveDateTime) -> NaiveDateTime {
    time.with_nanosecond(0).unwrap_or(time)
}

impl SaveComment {
    /// Stores a new comment on a post and returns the row.
    ///
    /// # Errors
    /// Validation errors of the draft, rejections by [`moderation::authorize`], errors of the store.
    pub fn insert(&self, tx: &mut Tx, post: &Post) -> SiteResult<Comment> {
        let status = self.draft.meta.as_ref().and_then(|meta| meta.get(NOTE_STATUS)?.as_str());
        let has_status = self.kind == "note" && status.is_some_and(|name| NOTE_STATES.contains(&name));
        let mut comment = Comment { comment_type: self.kind.clone(), ..Comment::default() };
        self.apply(tx, &mut comment)?;
        if svc_text::trim(&comment.content).is_empty() && !has_status {
            return Err(errors::no_content().into());
        }
        if comment.date_gmt.is_none() {
            comment.date_gmt = Some(self.now);
            comment.date = Some(self.settings.zone.to_local(self.now));
        }
        // PHP treats "0" as empty.
        let is_missing = |text: &str| matches!(text, "" | "0");
        let is_anonymous = comment.user.is_none()
            && [&comment.author, &comment.author_email, &comment.author_url].into_iter().all(|text| is_missing(text));
        if is_anonymous && self.caller.is_logged_in() {
            self.set_author(tx, &mut comment, self.caller.id)?;
        }
        let wants_name = self.settings.number("require_name_email") != 0;
        if wants_name && (is_missing(&comment.author) || is_missing(&comment.author_email)) {
            return Err(errors::author_data_required().into());
        }
        check_lengths(&comment)?;
        // Except for forms, moderation sees the unfiltered text: if filtering changes a text, it is never a duplicate
        // of a stored one.
        if self.is_form {
            self.filter(tx, &mut comment, None)?;
        }
        comment.approved = match comment.comment_type.as_str() {
            "note" => "1",
            _ => moderation::authorize(tx, &self.settings, &self.caller, post, &comment, self.now)?,
        }
        .to_owned();
        if !self.is_form {
            self.filter(tx, &mut comment, None)?;
        }
        let id = comments::insert(tx, &comment)?;
        let stored = self.finish(tx, CommentId(id.0), comment.post)?;
        // As in WordPress, comments over the REST API cause no mails.
        if self.is_form {
            mail::comments::created(tx, &self.site, &self.settings, &self.caller, &stored)?;
        }
        Ok(stored)
    }

    /// Updates a comment and returns the stored row.
    ///
    /// # Errors
    /// Validation errors of the draft; errors of the store.
    pub fn update(&self, tx: &mut Tx, id: CommentId) -> SiteResult<Comment> {
        let mut comment = comments::get(tx, id)?.ok_or_else(errors::not_found)?;
        if let Some(post) = self.draft.post.filter(|post| *post != 0)
            && posts::get(tx, PostId(post))?.is_none()
        {
            return Err(errors::invalid_post().into());
        }
        let author = comment.user;
        self.apply(tx, &mut comment)?;
        if self.draft.content.is_some() && svc_text::trim(&comment.content).is_empty() {
            return Err(errors::no_content().into());
        }
        check_lengths(&comment)?;
        // Filtering applies to the whole stored comment, including fields that the request does not change.
        self.filter(tx, &mut comment, Some(author))?;
        check_lengths(&comment)?;
        comments::update(tx, &comment)?;
        let before = comment.approved;
        let stored = self.finish(tx, id, comment.post)?;
        let is_approval = matches!(self.draft.status.as_deref(), Some("approved" | "approve" | "1"));
        if is_approval && before != "1" && stored.approved == "1" {
            mail::comments::approved(tx, &self.site, &self.settings, &self.caller, &stored)?;
        }
        Ok(stored)
    }

    /// Applies the draft to a row.
    fn apply(&self, db: &mut Db, row: &mut Comment) -> SiteResult<()> {
        let d = &self.draft;
        if let Some(content) = &d.content {
            row.content.clone_from(content);
        }
        if let Some(post) = d.post.filter(|post| *post > 0) {
            row.post = PostId(post);
        }
        if let Some(parent) = d.parent {
            row.parent = CommentId(parent.max(0));
        }
        if let Some(author) = d.author {
            self.set_author(db, row, UserId(author))?;
        }
        if let Some(name) = &d.author_name {
            row.author.clone_from(name);
        }
        if let Some(email) = &d.author_email {
            row.author_email.clone_from(email);
        }
        if let Some(url) = &d.author_url {
            row.author_url.clone_from(url);
        }
        // An update sets the IP address to the caller's, unless they may set another one and do so.
        row.author_ip = match &d.author_ip {
            Some(ip) if self.caller.has("moderate_comments") => ip.clone(),
            _ => self.ip.clone(),
        };
        match d.author_user_agent.as_deref().filter(|agent| !agent.is_empty()).unwrap_or(&self.agent) {
            "" => {}
            agent => row.agent = agent.chars().take(MAX_AGENT).collect(),
        }
        let non_empty = |text: &Option<String>| text.clone().filter(|t| !t.is_empty());
        let dates = match (non_empty(&d.date), non_empty(&d.date_gmt)) {
            (Some(local), _) => self.settings.zone.parse(&local, false),
            (None, Some(utc)) => self.settings.zone.parse(&utc, true),
            (None, None) => None,
        };
        if let Some((local, utc)) = dates {
            // On updates only the local time is used; it can be ambiguous.
            let utc = if row.id.is_none() { utc } else { self.settings.zone.to_utc(local) };
            (row.date, row.date_gmt) = (Some(local), Some(utc));
        }
        Ok(())
    }

    /// Makes a user the author of a comment.
    fn set_author(&self, db: &mut Db, row: &mut Comment, id: UserId) -> SiteResult<()> {
        let found = if id.0 > 0 { users::get(db, id)? } else { None };
        let user = found.ok_or_else(errors::unknown_author)?;
        row.user = user.id;
        (row.author, row.author_email, row.author_url) = (user.display_name, user.email, user.url);
        Ok(())
    }

    /// Sanitizes name, email address and URL of the author. Removes HTML that the caller may not use; for an existing comment,
    /// HTML that its author may not use either.
    fn filter(&self, db: &mut Db, row: &mut Comment, author: Option<UserId>) -> SiteResult<()> {
        let access = Access::new(&self.site, &self.settings);
        let mut may = !self.is_form && access.can(&self.caller, "unfiltered_html");
        if let Some(author) = author.filter(|author| may && *author != self.caller.id) {
            let author = moderation::user(db, &self.settings, author)?;
            may = author.is_some_and(|author| access.can(&author, "unfiltered_html"));
        }
        row.content = sanitize::comment(&self.settings, svc_text::trim(&row.content), !may);
        row.author = sanitize::term_name(&row.author);
        row.author_email = svc_text::sanitize_email(svc_text::trim(&row.author_email));
        row.author_url = sanitize::author_url(&row.author_url);
        Ok(())
    }

    /// Stores status and meta after the row.
    fn finish(&self, tx: &mut Tx, id: CommentId, post: PostId) -> SiteResult<Comment> {
        if let Some(status) = &self.draft.status {
            status::change(tx, id, status, self.now.and_utc().timestamp())?;
        }
        if let Some(values) = &self.draft.meta {
            let about = if post.is_none() { Vec::new() } else { posts::get_many(tx, &[post])? };
            let access = Access::of_posts(&self.site, &self.settings, tx, &about)?.with_comments([(id, post)]);
            let may = |cap: &str, key: &str| {
                if self.site.registries.meta.is_for_editors("comment", key) {
                    return self.caller.can("edit_comment", Object::Comment(id), &access);
                }
                self.caller.can(cap, Object::Meta(MetaKind::Comment, id.0, key), &access)
            };
            let rights = MetaRights {
                edit: &|key| may("edit_comment_meta", key),
                delete: &|key| may("delete_comment_meta", key),
                unfiltered_html: access.can(&self.caller, "unfiltered_html"),
            };
            let stored = meta::load_one(tx, MetaKind::Comment, id.0)?;
            let changes = self.site.registries.meta.changes("comment", "", &stored, values, &rights, &self.caller)?;
            drop(access);
            registered_meta::store(tx, MetaKind::Comment, id.0, &changes)?;
        }
        Ok(comments::get(tx, id)?.ok_or_else(errors::not_found)?)
    }
}

/// Checks the fields in [`LIMITS`].
pub(crate) fn check_lengths(row: &Comment) -> SiteResult<()> {
    for (member, most, code) in LIMITS {
        if member(row).len() > most {
            return Err(errors::too_long(code).into());
        }
    }
    Ok(())
}
