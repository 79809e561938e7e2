//! Stores changes to comments, each in one transaction.

use std::sync::Arc;

use svc_model::{Comment, Post, PostId};
use svc_resource::Typed;
use svc_routing::{ObjectId, Request, Result};
use svc_site::comments::{
    draft::CommentDraft,
    notes::has_notes,
    save::{SaveComment, accepts_comments, truncate_to_seconds},
};
use svc_store::{Tx, posts};

use super::{
    Comments, errors,
    fields::OBJECT,
    password,
    restricted::{self, NewType},
    rights::CommentViewer,
};
use crate::{
    caller,
    request::{client_address, only_reads},
};

/// A comment that the caller may create.
pub(super) struct AuthorizedComment {
    post: Post,
    draft: Typed<CommentDraft>,
}

impl Comments {
    /// Checks that the caller may create this comment.
    pub(super) fn check_create(&self, req: &Request) -> Result<AuthorizedComment> {
        let caller = caller(req);
        if !caller.is_logged_in() && only_reads(req) {
            return Err(errors::login_required());
        }
        let draft = self.draft(req);
        let is_note = NewType::of(draft.values()) == NewType::Note;
        if !caller.is_logged_in() {
            let may = !is_note && self.site.policies.guests_may_comment;
            if !may || self.site.settings(req.cx())?.number("comment_registration") != 0 {
                return Err(errors::login_required());
            }
        }
        let (id, password) = (PostId(draft.values().post.unwrap_or_default()), password(req));
        let post = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let post = id.max(PostId(0));
            let viewer = CommentViewer::new(db, &self.site, &settings, &caller, [post], password.as_deref())?;
            let found = viewer.post(post).cloned();
            restricted::check(req, &draft, &viewer, found.as_ref())?;
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
        })?;
        Ok(AuthorizedComment { post, draft })
    }

    /// The values of a request that creates or changes a comment. Avatars are read-only, so both tables accept the same draft.
    pub(super) fn draft(&self, req: &Request) -> Typed<CommentDraft> {
        self.without_avatars.typed(req)
    }

    /// Creates a comment from a request.
    pub(super) async fn insert(&self, req: &Request, authorized: AuthorizedComment) -> Result<Comment> {
        if req.param("id").is_some_and(svc_php::cast::truthy) {
            return Err(errors::exists());
        }
        let AuthorizedComment { post, draft } = authorized;
        let comment_type = match NewType::of(draft.values()) {
            NewType::Comment => "comment",
            NewType::Note => "note",
            NewType::Other => return Err(errors::invalid_type()),
        };
        let job = self.job(req, comment_type, draft)?;
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
    pub(super) async fn change(&self, req: &Request, before: Comment, draft: Typed<CommentDraft>) -> Result<Comment> {
        let comment_type = svc_site::comments::draft::response_type(&before);
        if draft.values().comment_type.as_ref().is_some_and(|sent| sent != comment_type) {
            return Err(errors::type_is_fixed());
        }
        let job = self.job(req, comment_type, draft)?;
        let comment = self.site.write(req.cx(), move |tx| job.update(tx, before.id)).await?;
        self.add_extra(req, comment).await
    }

    fn job(&self, req: &Request, comment_type: &str, draft: Typed<CommentDraft>) -> Result<SaveComment> {
        Ok(SaveComment {
            site: Arc::clone(&self.site),
            settings: self.site.settings(req.cx())?,
            caller: caller(req),
            draft: draft.accepted()?,
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
