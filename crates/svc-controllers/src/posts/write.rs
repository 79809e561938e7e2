//! Stores what a request makes of a post: one transaction, all of it or nothing.

use std::sync::Arc;

use svc_auth::{Caller, caps::Object};
use svc_model::{Post, PostId, TermId, UserId};
use svc_routing::{ObjectId, Request, Result};
use svc_site::{
    Access, Settings,
    posts::{draft::PostDraft, save::Job},
};
use svc_store::{Tx, posts, terms};

use super::Posts;
use crate::{caller, errors, respond};

impl Posts {
    /// The rights that members of a request take, beyond the right to write the post: another author, being sticky,
    /// terms. `own` is asked in between, where the peer asks for the right to write.
    pub(super) fn check_members(&self, req: &Request, own: impl FnOnce(&Caller) -> Result<()>) -> Result<()> {
        let caller = caller(req);
        let caps = &self.post_type.caps;
        let settings = self.site.settings()?;
        let access = Access::new(&self.site, &settings);
        let others = access.can(&caller, &caps.edit_others_posts);
        // A list asks by the same name for authors, which are several, and still tells whether one may create here.
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

    /// Whether the caller may give posts the terms that the request names; terms that do not exist are passed over.
    fn check_terms(&self, req: &Request, caller: &Caller) -> Result<()> {
        let mut named: Vec<TermId> = Vec::new();
        for taxonomy in self.site.taxonomies.of_type(&self.post_type.name).filter(|t| t.show_in_rest) {
            match req.param(&taxonomy.rest_base) {
                Some(serde_json::Value::Array(ids)) => {
                    named.extend(ids.iter().filter_map(|id| id.as_i64().map(TermId)))
                }
                Some(one) => named.extend(one.as_i64().map(TermId)),
                None => {}
            }
        }
        if named.is_empty() {
            return Ok(());
        }
        // Zero is no term that could be passed over, and nobody may give it, as on the peer.
        if named.iter().any(|id| id.is_none()) {
            return Err(errors::cannot_assign_term(req));
        }
        self.site.read(|db| {
            let found = terms::get_many(db, &named)?;
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

    /// Creates or changes a post as the request says.
    pub(super) async fn save(&self, req: &Request, existing: Option<Post>) -> Result<PostId> {
        let settings = self.site.settings()?;
        let draft = self.draft(req)?;
        self.save_draft(req, draft, existing.map(|p| p.id), settings).await
    }

    /// Creates or changes a post as a draft says.
    pub(crate) async fn save_draft(
        &self,
        req: &Request,
        draft: PostDraft,
        existing: Option<PostId>,
        settings: Arc<Settings>,
    ) -> Result<PostId> {
        let job = self.job(caller(req), draft, existing, settings);
        let id = self.site.write(move |tx| job.run(tx)).await?;
        self.update_extra(id, req).await?;
        Ok(id)
    }

    /// Stores the additional fields that a request gives a post.
    pub(crate) async fn update_extra(&self, id: PostId, req: &Request) -> Result<()> {
        let number = u64::try_from(id.0).unwrap_or_default();
        self.extra.update(&self.post_type.name, &ObjectId::from(number), req).await
    }

    /// What a request wants to change of a post.
    pub(crate) fn draft(&self, req: &Request) -> Result<PostDraft> {
        self.fields.read(|name| respond::given(req, name))
    }

    /// A draft with everything that storing it needs.
    pub(crate) fn job(
        &self,
        caller: Caller,
        draft: PostDraft,
        existing: Option<PostId>,
        settings: Arc<Settings>,
    ) -> Job {
        Job::new(&self.site.site, settings, &self.post_type, caller, draft, existing)
    }

    /// Moves a post to the trash.
    pub(super) async fn trash(&self, id: PostId, by: UserId) -> Result<()> {
        let site = Arc::clone(&self.site);
        let trash = move |tx: &mut Tx| {
            let post = posts::get(tx, id)?.ok_or_else(errors::post_not_found)?;
            if post.status == "trash" {
                return Err(errors::already_trashed().into());
            }
            svc_site::posts::delete::trash(tx, &site, id, by)
        };
        self.site.write(trash).await
    }

    /// A post that this request has just written. Whoever publishes scheduled posts is told of one more.
    pub(crate) fn saved(&self, id: PostId) -> Result<Post> {
        let post = self.site.read(|db| posts::get(db, id)?.ok_or_else(|| errors::post_not_found().into()))?;
        if post.status == "future" {
            self.site.scheduled.notify_one();
        }
        Ok(post)
    }
}
