//! Stores what a request makes of a comment: one transaction, all of it or nothing.

use std::sync::Arc;

use chrono::{NaiveDateTime, TimeDelta, Timelike};
use serde_json::Value;
use svc_auth::{
    Caller,
    caps::{MetaKind as CapKind, Object},
};
use svc_model::{Comment, CommentId, Post, PostId, UserId};
use svc_routing::{ObjectId, Request, Result};
use svc_store::{
    Db, MetaKind, Tx, comments,
    meta::{self},
    posts, users,
};

use super::{
    Comments, NOTE_STATES, NOTE_STATUS, errors,
    fields::{CommentDraft, OBJECT},
    has_notes, moderation, password,
    rights::CommentViewer,
    status,
};
use crate::{
    Access, Settings, Site, SiteResult,
    access::{client_address, only_reads},
    caller,
    meta::MetaRights,
    render, respond,
};

/// A member, its most bytes, and the code that says that it has more.
type Limit = (fn(&Comment) -> &str, usize, &'static str);

/// The members that have a limit.
const LIMITS: [Limit; 4] = [
    (|c| &c.author, 245, "comment_author_column_length"),
    (|c| &c.author_email, 100, "comment_author_email_column_length"),
    (|c| &c.author_url, 200, "comment_author_url_column_length"),
    (|c| &c.content, 65_525, "comment_content_column_length"),
];

/// Most characters that are kept of the name of the program that a comment was sent with.
const MAX_AGENT: usize = 254;

/// Everything that a transaction needs, so that it can be run again.
pub(super) struct Job {
    pub(super) site: Arc<Site>,
    pub(super) settings: Arc<Settings>,
    pub(super) caller: Caller,
    pub(super) draft: CommentDraft,
    /// The type of a new comment.
    pub(super) kind: String,
    /// What the request itself says of where it came from.
    pub(super) ip: String,
    pub(super) agent: String,
    pub(super) now: NaiveDateTime,
    /// The comment was written with the form of a page: its HTML is filtered for every author, before moderation.
    pub(super) is_form: bool,
}

impl Comments {
    /// Whether the caller may write this comment; gives its post.
    pub(super) fn check_create(&self, req: &Request) -> Result<Post> {
        let caller = caller(req);
        let is_note = req.param("type").is_some_and(|t| t == "note");
        if !caller.is_logged_in() {
            let may = !is_note && self.site.guests_may_comment && !only_reads(req);
            if !may || self.site.settings()?.number("comment_registration") != 0 {
                return Err(errors::login_required());
            }
        }
        let (id, given) = (number(req, "post").unwrap_or_default(), password(req));
        self.site.read(|db| {
            let settings = self.site.settings_in(db)?;
            let post = PostId(id.max(0));
            let reader = CommentViewer::new(db, &self.site, &settings, &caller, [post], given.as_deref())?;
            let found = reader.post(post).cloned();
            check_members(req, &reader, found.as_ref(), is_note)?;
            let post = found.ok_or_else(errors::invalid_post)?;
            if is_note && !self.site.types.get(&post.post_type).is_some_and(has_notes) {
                return Err(errors::notes_not_supported().into());
            }
            let refused = match post.status.as_str() {
                "draft" if !is_note => Some(errors::draft_post()),
                "trash" => Some(errors::trashed_post()),
                _ if !reader.can_read_post(&post) => Some(errors::cannot_read_post(req)),
                _ if !is_note && !takes_comments(&post, &settings, self.site.now()) => Some(errors::closed()),
                _ => None,
            };
            refused.map_or(Ok(post), |error| Err(error.into()))
        })
    }

    /// Adds the comment that a request describes.
    pub(super) async fn insert(&self, req: &Request, post: Post) -> Result<Comment> {
        if req.param("id").is_some_and(svc_php::cast::truthy) {
            return Err(errors::exists());
        }
        let kind = match req.param("type").filter(|t| svc_php::cast::truthy(t)) {
            None => "comment",
            Some(kind) => match kind.as_str() {
                Some(kind @ ("comment" | "note")) => kind,
                _ => return Err(errors::invalid_type()),
            },
        };
        let job = self.job(req, kind)?;
        let insert = move |tx: &mut Tx| {
            if post.id.is_none() {
                return job.insert(tx, &post);
            }
            // The post may have been deleted or moved to the trash meanwhile.
            match posts::get(tx, post.id)? {
                None => Err(errors::invalid_post().into()),
                Some(now) if now.status == "trash" => Err(errors::trashed_post().into()),
                Some(now) => job.insert(tx, &now),
            }
        };
        let comment = self.site.write(insert).await?;
        self.add_extra(req, comment).await
    }

    /// Changes a comment as a request says.
    pub(super) async fn change(&self, req: &Request, before: Comment) -> Result<Comment> {
        let shown = super::fields::shown_type(&before);
        if req.param("type").is_some_and(|kind| kind != shown) {
            return Err(errors::type_is_fixed());
        }
        let job = self.job(req, shown)?;
        let comment = self.site.write(move |tx| job.update(tx, before.id)).await?;
        self.add_extra(req, comment).await
    }

    fn job(&self, req: &Request, kind: &str) -> Result<Job> {
        let mut draft = CommentDraft::default();
        // Avatars are read only, so that either table will do.
        self.without_avatars.apply(&mut draft, |name| respond::given(req, name))?;
        Ok(Job {
            site: Arc::clone(&self.site),
            settings: self.site.settings()?,
            caller: caller(req),
            draft,
            kind: kind.to_owned(),
            ip: client_address(req).to_string(),
            agent: req.header("user-agent").unwrap_or_default().to_owned(),
            now: whole_seconds(self.site.now()),
            is_form: false,
        })
    }

    async fn add_extra(&self, req: &Request, comment: Comment) -> Result<Comment> {
        let number = u64::try_from(comment.id.0).unwrap_or_default();
        self.extra.update(OBJECT, &ObjectId::from(number), req).await?;
        Ok(comment)
    }
}

/// A number that a parameter of one who writes names. Lists, as readers give them, stand for none in particular, as in
/// PHP.
pub(super) fn number(req: &Request, name: &str) -> Option<i64> {
    req.param(name).map(svc_php::cast::to_int)
}

/// The members of a new comment that only those who look after comments may set; notes are for those who edit the post.
fn check_members(req: &Request, reader: &CommentViewer<'_>, post: Option<&Post>, is_note: bool) -> Result<()> {
    let moderates = reader.moderates();
    if number(req, "author").is_some_and(|author| author != reader.caller.id.0) && !moderates {
        return Err(errors::invalid_author(req));
    }
    if let Some(ip) = req.param("author_ip")
        && !moderates
        && ip != &Value::from(client_address(req).to_string())
    {
        return Err(errors::invalid_author_ip(req));
    }
    let edits_post = post.is_some_and(|post| reader.can_edit_post(post));
    if is_note && post.is_some() && !edits_post {
        return Err(errors::cannot_create_note(req));
    }
    let sets_status = if is_note && post.is_some() { edits_post } else { moderates };
    if req.param("status").is_some() && !sets_status {
        return Err(errors::invalid_status(req));
    }
    Ok(())
}

/// Whether a post takes comments now: it is open, and not too old where the site closes old posts.
pub(super) fn takes_comments(post: &Post, settings: &Settings, now: NaiveDateTime) -> bool {
    let days = settings.number("close_comments_days_old");
    let closes = settings.number("close_comments_for_old_posts") != 0 && days > 0 && post.post_type == "post";
    let is_old = closes
        && post
            .date_gmt
            .zip(TimeDelta::try_days(days))
            .is_some_and(|(date, age)| now.signed_duration_since(date) > age);
    post.comment_status == "open" && !is_old
}

/// Stored moments have whole seconds.
pub(super) fn whole_seconds(moment: NaiveDateTime) -> NaiveDateTime {
    moment.with_nanosecond(0).unwrap_or(moment)
}

impl Job {
    pub(super) fn insert(&self, tx: &mut Tx, post: &Post) -> SiteResult<Comment> {
        let given = self.draft.meta.as_ref().and_then(|meta| meta.get(NOTE_STATUS)?.as_str());
        let settles = self.kind == "note" && given.is_some_and(|status| NOTE_STATES.contains(&status));
        let mut comment = Comment { comment_type: self.kind.clone(), ..Comment::default() };
        self.apply(tx, &mut comment)?;
        if svc_text::trim(&comment.content).is_empty() && !settles {
            return Err(errors::no_content().into());
        }
        if comment.date_gmt.is_none() {
            comment.date_gmt = Some(self.now);
            comment.date = Some(self.settings.zone.to_local(self.now));
        }
        let nameless = comment.user.is_none()
            && comment.author.is_empty()
            && comment.author_email.is_empty()
            && comment.author_url.is_empty();
        if nameless && self.caller.is_logged_in() {
            self.sign(tx, &mut comment, self.caller.id)?;
        }
        let wants_name = self.settings.number("require_name_email") != 0;
        // PHP takes a zero for nothing.
        let is_missing = |text: &str| matches!(text, "" | "0");
        if wants_name && (is_missing(&comment.author) || is_missing(&comment.author_email)) {
            return Err(errors::author_data_required().into());
        }
        check_lengths(&comment)?;
        // Judged is what was sent, but for forms: a text that filtering changes is never a duplicate of what is stored.
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
        self.finish(tx, CommentId(id.0), comment.post)
    }

    fn update(&self, tx: &mut Tx, id: CommentId) -> SiteResult<Comment> {
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
        // What is stored is filtered again, be it of old or new.
        self.filter(tx, &mut comment, Some(author))?;
        check_lengths(&comment)?;
        comments::update(tx, &comment)?;
        self.finish(tx, id, comment.post)
    }

    /// Puts what the request gives into a row.
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
            self.sign(db, row, UserId(author))?;
        }
        if let Some(name) = &d.author_name {
            row.author = render::save_term_name(name);
        }
        if let Some(email) = &d.author_email {
            row.author_email = svc_text::sanitize_email(svc_text::trim(email));
        }
        if let Some(url) = &d.author_url {
            row.author_url.clone_from(url);
        }
        // Whoever changes a comment has sent it, unless he may say otherwise and does.
        row.author_ip = match &d.author_ip {
            Some(ip) if self.caller.has("moderate_comments") => ip.clone(),
            _ => self.ip.clone(),
        };
        match d.author_user_agent.as_deref().filter(|agent| !agent.is_empty()).unwrap_or(&self.agent) {
            "" => {}
            agent => row.agent = agent.chars().take(MAX_AGENT).collect(),
        }
        let given = |text: &Option<String>| text.clone().filter(|t| !t.is_empty());
        let moments = match (given(&d.date), given(&d.date_gmt)) {
            (Some(local), _) => self.settings.zone.pair(&local, false),
            (None, Some(utc)) => self.settings.zone.pair(&utc, true),
            (None, None) => None,
        };
        if let Some((local, utc)) = moments {
            // When a comment is changed, the local time alone counts: it may name two moments.
            let utc = if row.id.is_none() { utc } else { self.settings.zone.to_utc(local) };
            (row.date, row.date_gmt) = (Some(local), Some(utc));
        }
        Ok(())
    }

    /// Makes a user the author.
    fn sign(&self, db: &mut Db, row: &mut Comment, id: UserId) -> SiteResult<()> {
        let found = if id.0 > 0 { users::get(db, id)? } else { None };
        let user = found.ok_or_else(errors::unknown_author)?;
        row.user = user.id;
        (row.author, row.author_email, row.author_url) = (user.display_name, user.email, user.url);
        Ok(())
    }

    /// Takes out the HTML that the caller may not use, or, of a comment that is there, its author.
    fn filter(&self, db: &mut Db, row: &mut Comment, author: Option<UserId>) -> SiteResult<()> {
        let access = Access::new(&self.site, &self.settings);
        let mut may = !self.is_form && access.can(&self.caller, "unfiltered_html");
        if let Some(author) = author.filter(|author| may && *author != self.caller.id) {
            let author = moderation::user(db, &self.settings, author)?;
            may = author.is_some_and(|author| access.can(&author, "unfiltered_html"));
        }
        row.content = render::save_comment(&self.settings, svc_text::trim(&row.content), !may);
        row.author_url = render::save_address(&row.author_url);
        Ok(())
    }

    /// Status and meta, once the row is there.
    fn finish(&self, tx: &mut Tx, id: CommentId, post: PostId) -> SiteResult<Comment> {
        if let Some(status) = &self.draft.status {
            status::change(tx, id, status, self.now.and_utc().timestamp())?;
        }
        if let Some(values) = &self.draft.meta {
            let about = if post.is_none() { Vec::new() } else { posts::get_many(tx, &[post])? };
            let access = Access::of_posts(&self.site, &self.settings, tx, &about)?.with_comments([(id, post)]);
            let may = |cap: &str, key: &str| {
                if self.site.meta.is_for_editors("comment", key) {
                    return self.caller.can("edit_comment", Object::Comment(id), &access);
                }
                self.caller.can(cap, Object::Meta(CapKind::Comment, id.0, key), &access)
            };
            let rights = MetaRights {
                edit: &|key| may("edit_comment_meta", key),
                delete: &|key| may("delete_comment_meta", key),
            };
            let stored = meta::load_one(tx, MetaKind::Comment, id.0)?;
            let changes = self.site.meta.changes("comment", "", &stored, values, &rights, &self.caller)?;
            drop(access);
            crate::meta::store(tx, MetaKind::Comment, id.0, &changes)?;
        }
        Ok(comments::get(tx, id)?.ok_or_else(errors::not_found)?)
    }
}

fn check_lengths(row: &Comment) -> SiteResult<()> {
    for (member, most, code) in LIMITS {
        if member(row).len() > most {
            return Err(errors::too_long(code).into());
        }
    }
    Ok(())
}
