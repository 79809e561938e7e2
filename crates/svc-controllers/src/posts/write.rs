//! Stores changes to posts, each in one transaction.

use std::sync::Arc;

use serde_json::Value;
use svc_auth::{Caller, caps::Object};
use svc_model::{Post, PostId, TermId, UserId};
use svc_routing::{ObjectId, Request, Result};
use svc_site::{
    Access, Settings,
    posts::{draft::PostDraft, save::SavePost},
    revisions::RevisionAuthor,
};
use svc_store::{Tx, posts, terms};
use svc_versions::Context;

use super::Posts;
use crate::{caller, errors, respond};

impl Posts {
    /// Checks the permissions that fields of a request require in addition to editing the post: another author, sticky,
    /// terms. `own`, the check of the post itself, runs at the same position as in WordPress.
    pub(super) fn check_fields(&self, req: &Request, own: impl FnOnce(&Caller) -> Result<()>) -> Result<()> {
        let caller = caller(req);
        let caps = &self.post_type.caps;
        let settings = self.site.settings(req.cx())?;
        let access = Access::new(&self.site, &settings);
        let others = access.can(&caller, &caps.edit_others_posts);
        // In list requests, `author` is an array. The check still runs for them, to compute `Allow`.
        if let Some(author) = req.param("author").filter(|author| svc_php::cast::truthy(author))
            && author.as_i64().map(UserId) != Some(caller.id)
            && !others
        {
            return Err(errors::cannot_edit_others(req));
        }
        if req.param("sticky").is_some_and(svc_php::cast::truthy)
            && !(others && access.can(&caller, &caps.publish_posts))
        {
            return Err(errors::cannot_assign_sticky(req));
        }
        own(&caller)?;
        self.check_terms(req, &caller)
    }

    /// Checks that the caller may assign the terms of the request. Terms that do not exist in the taxonomy are ignored.
    fn check_terms(&self, req: &Request, caller: &Caller) -> Result<()> {
        let mut requested: Vec<(TermId, &str)> = Vec::new();
        for taxonomy in self.site.registries.taxonomies.of_type(&self.post_type.name).filter(|t| t.show_in_rest) {
            match req.param(&taxonomy.rest_base) {
                Some(Value::Array(ids)) => {
                    requested.extend(ids.iter().filter_map(|id| Some((TermId(id.as_i64()?), &*taxonomy.name))))
                }
                Some(one) => requested.extend(one.as_i64().map(|id| (TermId(id), &*taxonomy.name))),
                None => {}
            }
        }
        if requested.is_empty() {
            return Ok(());
        }
        // As in WordPress, nobody may assign term 0.
        if requested.iter().any(|(id, _)| id.is_none()) {
            return Err(errors::cannot_assign_term(req));
        }
        self.site.read(req.cx(), |db| {
            let ids: Vec<TermId> = requested.iter().map(|(id, _)| *id).collect();
            let mut found = terms::without_counts(db, &ids)?;
            found.retain(|term| requested.contains(&(term.id, term.taxonomy.as_str())));
            let settings = self.site.settings_in(db)?;
            let access =
                Access::new(&self.site, &settings).with_terms(found.iter().map(|t| (t.id, t.taxonomy.clone())));
            if found.iter().all(|t| caller.can("assign_term", Object::Term(t.id), &access)) {
                Ok(())
            } else {
                Err(errors::cannot_assign_term(req).into())
            }
        })
    }

    /// Creates or updates a post from a request.
    pub(super) async fn save(&self, req: &Request, existing: Option<Post>) -> Result<PostId> {
        let settings = self.site.settings(req.cx())?;
        let mut draft = self.draft(req)?;
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

    /// The changes of a request to a post.
    pub(crate) fn draft(&self, req: &Request) -> Result<PostDraft> {
        self.fields.read(|name| respond::param_or_null(req, name))
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
