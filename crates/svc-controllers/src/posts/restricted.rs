//! Fields of a post that need more than the right to create or edit it: another author, sticky, terms.

use serde_json::Value;
use svc_auth::{Caller, caps::Object};
use svc_model::{PostType, TermId, UserId};
use svc_resource::Params;
use svc_routing::{Request, Result};
use svc_schema::build::{array, boolean, integer};
use svc_site::{Access, Site};
use svc_store::terms;

use super::Posts;
use crate::{caller, errors};

/// The restricted fields of a request. As in WordPress, the permission checks `author` and `sticky` for each type, even if its posts do not
/// have these fields. The handler gets the fields that they have, from the same parameters, in the draft.
#[derive(Clone, Debug, Default)]
pub(super) struct RestrictedFields {
    author: UserId,
    sticky: bool,
    /// Terms, with their taxonomies.
    terms: Vec<(TermId, String)>,
}

/// The restricted parameters.
pub(super) fn params(site: &Site, post_type: &PostType) -> Params<RestrictedFields> {
    let mut p = Params::<RestrictedFields>::new(&post_type.name);
    p.add("author", integer()).set(|restricted, id: i64| restricted.author = UserId(id));
    p.add("sticky", boolean()).set(|restricted, is_sticky| restricted.sticky = is_sticky);
    for taxonomy in site.registries.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest) {
        let name = taxonomy.name.clone();
        p.add(&taxonomy.rest_base, array(integer())).set(move |restricted, ids: Value| {
            // Other forms, which only lists of posts have, assign nothing.
            let ids = ids.as_array().map_or(std::slice::from_ref(&ids), Vec::as_slice);
            restricted.terms.extend(ids.iter().filter_map(|id| Some((TermId(id.as_i64()?), name.clone()))));
        });
    }
    p
}

impl Posts {
    /// Checks the permissions that restricted fields require. `own`, the check of the post itself, runs at the same position as in WordPress.
    pub(super) fn check_restricted(&self, req: &Request, own: impl FnOnce(&Caller) -> Result<()>) -> Result<()> {
        let (caller, restricted) = (caller(req), self.restricted.typed(req));
        let RestrictedFields { author, sticky, terms } = restricted.values();
        let caps = &self.post_type.caps;
        let settings = self.site.settings(req.cx())?;
        let access = Access::new(&self.site, &settings);
        let others = access.can(&caller, &caps.edit_others_posts);
        // In requests for lists, for which this computes `Allow`, `author` is a list, and so another author.
        let is_for_another = (!author.is_none() && *author != caller.id) || restricted.has_mismatch("author");
        if is_for_another && !others {
            return Err(errors::cannot_edit_others(req));
        }
        let is_sticky = *sticky || restricted.has_mismatch("sticky");
        if is_sticky && !(others && access.can(&caller, &caps.publish_posts)) {
            return Err(errors::cannot_assign_sticky(req));
        }
        own(&caller)?;
        self.check_terms(req, &caller, terms)
    }

    /// Checks that the caller may assign these terms. Terms that do not exist in the taxonomy are ignored.
    fn check_terms(&self, req: &Request, caller: &Caller, requested: &[(TermId, String)]) -> Result<()> {
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
