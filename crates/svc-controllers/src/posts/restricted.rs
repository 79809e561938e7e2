//! Fields of a post that need more than the right to create or edit it: another author, sticky, terms.

use svc_auth::{Caller, caps::Object};
use svc_model::{TermId, UserId};
use svc_resource::Typed;
use svc_routing::{Request, Result};
use svc_site::{Access, posts::draft::PostDraft};
use svc_store::terms;

use super::Posts;
use crate::{caller, errors};

impl Posts {
    /// Checks the permissions that restricted fields of a draft require. As in WordPress, `author` and `sticky` require them even if posts of
    /// the type do not have these fields. `own`, the check of the post itself, runs at the same position as in WordPress.
    pub(super) fn check_restricted<D: AsRef<PostDraft>>(
        &self,
        req: &Request,
        draft: &Typed<D>,
        own: impl FnOnce(&Caller) -> Result<()>,
    ) -> Result<()> {
        let caller = caller(req);
        let PostDraft { author, sticky, terms, .. } = draft.values().as_ref();
        let caps = &self.post_type.caps;
        let settings = self.site.settings(req.cx())?;
        let access = Access::new(&self.site, &settings);
        let others = access.can(&caller, &caps.edit_others_posts);
        // In requests for lists, for which this computes `Allow`, `author` is a list, and so another author.
        let is_another = |id: i64| id != 0 && UserId(id) != caller.id;
        let is_for_another = author.is_some_and(is_another) || draft.has_mismatch("author");
        if is_for_another && !others {
            return Err(errors::cannot_edit_others(req));
        }
        let is_sticky = *sticky == Some(true) || draft.has_mismatch("sticky");
        if is_sticky && !(others && access.can(&caller, &caps.publish_posts)) {
            return Err(errors::cannot_assign_sticky(req));
        }
        own(&caller)?;
        let terms = terms.iter().flat_map(|(taxonomy, ids)| ids.iter().map(|id| (TermId(*id), taxonomy.as_str())));
        self.check_terms(req, &caller, &terms.collect::<Vec<_>>())
    }

    /// Checks that the caller may assign these terms. Terms that do not exist in the taxonomy are ignored.
    fn check_terms(&self, req: &Request, caller: &Caller, requested: &[(TermId, &str)]) -> Result<()> {
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
            found.retain(|term| requested.iter().any(|(id, taxonomy)| term.id == *id && term.taxonomy == *taxonomy));
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
}
