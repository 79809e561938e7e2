//! Stores changes to comments, each in one transaction.

use std::sync::Arc;

use serde_json::Value;
use svc_model::{Comment, Post, PostId};
use svc_routing::{ObjectId, Request, Result};
use svc_site::comments::{
    draft::CommentDraft,
    notes::has_notes,
    save::{SaveComment, accepts_comments, truncate_to_seconds},
};
use svc_store::{Tx, posts};

use super::{Comments, errors, fields::OBJECT, password, rights::CommentViewer};
use crate::{
    caller,
    request::{client_address, only_reads},
    respond,
};

impl Comments {
    /// Checks that the caller may create this comment. Returns its post.
    pub(super) fn check_create(&self, req: &Request) -> Result<Post> {
        let caller = caller(req);
        let is_note = req.param("type").is_some_and(|t| t == "note");
        if !caller.is_logged_in() {
            let may = !is_note && self.site.policies.guests_may_comment && !only_reads(req);
            if !may || self.site.settings(req.cx())?.number("comment_registration") != 0 {
                return Err(errors::login_required());
            }
        }
        let (id, password) = (number(req, "post").unwrap_or_default(), password(req));
        self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let post = PostId(id.max(0));
            let viewer = CommentViewer::new(db, &self.site, &settings, &caller, [post], password.as_deref())?;
            let found = viewer.post(post).cloned();
            check_fields(req, &viewer, found.as_ref(), is_note)?;
            let post = found.ok_or_else(errors::invalid_post)?;
            if is_note && !self.site.registries.types.get(&post.post_type).is_some_and(has_notes) {
                return Err(errors::notes_not_supported().into());
            }
            let error = match post.status.as_str() {
                "draft" if !is_note => Some(errors::draft_post()),
                "trash" => Some(errors::trashed_post()),
                _ if !viewer.can_read_post(&post) => Some(errors::cannot_read_post(req)),
                _ if !is_note && !accepts_comments(&post, &settings, self.site.now(req.cx())) => Some(errors::closed()),
                _ => None,
            };
            error.map_or(Ok(post), |error| Err(error.into()))
        })
    }

    /// Creates a comment from a request.
    pub(super) async fn insert(&self, req: &Request, post: Post) -> Result<Comment> {
        if req.param("id").is_some_and(svc_php::cast::truthy) {
            return Err(errors::exists());
        }
        let comment_type = match req.param("type").filter(|t| svc_php::cast::truthy(t)) {
            None => "comment",
            Some(value) => match value.as_str() {
                Some(name @ ("comment" | "note")) => name,
                _ => return Err(errors::invalid_type()),
            },
        };
        let job = self.job(req, comment_type)?;
        let insert = move |tx: &mut Tx| {
            if post.id.is_none() {
                return job.insert(tx, &post);
            }
            // The post may have been deleted or moved to the trash in the meantime.
            match posts::get(tx, post.id)? {
                None => Err(errors::invalid_post().into()),
                Some(now) if now.status == "trash" => Err(errors::trashed_post().into()),
                Some(now) => job.insert(tx, &now),
            }
        };
        let comment = self.site.write(req.cx(), insert).await?;
        self.add_extra(req, comment).await
    }

    /// Updates a comment from a request.
    pub(super) async fn change(&self, req: &Request, before: Comment) -> Result<Comment> {
        let comment_type = svc_site::comments::draft::response_type(&before);
        if req.param("type").is_some_and(|sent| sent != comment_type) {
            return Err(errors::type_is_fixed());
        }
        let job = self.job(req, comment_type)?;
        let comment = self.site.write(req.cx(), move |tx| job.update(tx, before.id)).await?;
        self.add_extra(req, comment).await
    }

    fn job(&self, req: &Request, comment_type: &str) -> Result<SaveComment> {
        let mut draft = CommentDraft::default();
        // Avatars are read-only, so both tables accept the same draft.
        self.without_avatars.apply(&mut draft, |name| respond::param_or_null(req, name))?;
        Ok(SaveComment {
            site: Arc::clone(&self.site),
            settings: self.site.settings(req.cx())?,
            caller: caller(req),
            draft,
            kind: comment_type.to_owned(),
            ip: client_address(req).to_string(),
            agent: req.header("user-agent").unwrap_or_default().to_owned(),
            now: truncate_to_seconds(self.site.now(req.cx())),
            is_form: false,
        })
    }

    async fn add_extra(&self, req: &Request, comment: Comment) -> Result<Comment> {
        let id = u64::try_from(comment.id.0).unwrap_or_default();
        self.extra.update(OBJECT, &ObjectId::from(id), req).await?;
        Ok(comment)
    }
}

/// The integer in a parameter of a write. Lists, which read requests send, are converted as in PHP.
pub(super) fn number(req: &Request, name: &str) -> Option<i64> {
    req.param(name).map(svc_php::cast::to_int)
}

/// Checks fields of a new comment that only moderators may set. Notes require permission to edit the post.
fn check_fields(req: &Request, viewer: &CommentViewer<'_>, post: Option<&Post>, is_note: bool) -> Result<()> {
    let moderates = viewer.moderates();
    if number(req, "author").is_some_and(|author| author != viewer.caller.id.0) && !moderates {
        return Err(errors::invalid_author(req));
    }
    if let Some(ip) = req.param("author_ip")
        && !moderates
        && ip != &Value::from(client_address(req).to_string())
    {
        return Err(errors::invalid_author_ip(req));
    }
    let edits_post = post.is_some_and(|post| viewer.can_edit_post(post));
    if is_note && post.is_some() && !edits_post {
        return Err(errors::cannot_create_note(req));
    }
    let sets_status = if is_note && post.is_some() { edits_post } else { moderates };
    if req.param("status").is_some() && !sets_status {
        return Err(errors::invalid_status(req));
    }
    Ok(())
}
