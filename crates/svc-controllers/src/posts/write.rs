//! Stores changes to posts, each in one transaction.

use std::sync::Arc;

use svc_auth::Caller;
use svc_model::{Post, PostId};
use svc_resource::Typed;
use svc_routing::{ObjectId, Request, Result};
use svc_site::{
    Settings,
    posts::{draft::PostDraft, save::SavePost},
    revisions::RevisionAuthor,
};
use svc_store::{Tx, posts};
use svc_versions::Context;

use super::Posts;
use crate::{caller, errors};

impl Posts {
    /// Creates or updates a post from a request.
    pub(super) async fn save(&self, req: &Request, draft: Typed<PostDraft>, existing: Option<Post>) -> Result<PostId> {
        let settings = self.site.settings(req.cx())?;
        let mut draft = draft.accepted()?;
        if let Some(content) = self.content_of_blocks(req, &settings)? {
            draft.content = Some(content);
        }
        self.save_draft(req, draft, existing.map(|p| p.id), settings).await
    }

    /// Creates or updates a post from a draft.
    pub(crate) async fn save_draft(
        &self,
        req: &Request,
        draft: PostDraft,
        existing: Option<PostId>,
        settings: Arc<Settings>,
    ) -> Result<PostId> {
        let job = self.job(caller(req), draft, existing, settings);
        let id = self.site.write(req.cx(), move |tx| job.run(tx)).await?;
        self.update_extra(id, req).await?;
        Ok(id)
    }

    /// Stores the additional fields of a request.
    pub(crate) async fn update_extra(&self, id: PostId, req: &Request) -> Result<()> {
        let id = u64::try_from(id.0).unwrap_or_default();
        self.extra.update(&self.post_type.name, &ObjectId::from(id), req).await
    }

    /// The job that stores a draft.
    pub(crate) fn job(
        &self,
        caller: Caller,
        draft: PostDraft,
        existing: Option<PostId>,
        settings: Arc<Settings>,
    ) -> SavePost {
        SavePost::new(&self.site, settings, &self.post_type, caller, draft, existing)
    }

    /// Moves a post to the trash.
    pub(super) async fn trash(&self, req: &Request, id: PostId) -> Result<()> {
        let site = Arc::clone(&self.site);
        let by = RevisionAuthor::of(&caller(req), &self.site, &*self.site.settings(req.cx())?);
        let trash = move |tx: &mut Tx| {
            let post = posts::get(tx, id)?.ok_or_else(errors::post_not_found)?;
            if post.status == "trash" {
                return Err(errors::already_trashed().into());
            }
            svc_site::posts::delete::trash(tx, &site, id, by)
        };
        self.site.write(req.cx(), trash).await
    }

    /// A post that this request has just written.
    pub(crate) fn saved(&self, cx: &Context, id: PostId) -> Result<Post> {
        self.site.read(cx, |db| posts::get(db, id)?.ok_or_else(|| errors::post_not_found().into()))
    }
}
