//! Stores changes to terms.
//!
//! As in WordPress, the term and its meta are stored in two transactions: an invalid meta value does not undo the
//! change of the term.

use std::sync::Arc;

use svc_model::{Term, TermId};
use svc_routing::{ObjectId, Request, Result};
use svc_site::{
    languages::term_is_deleted,
    menus::on_delete::delete_items_for_term,
    terms::{
        draft::TermDraft,
        save::{SaveTerm, default_term, store_meta},
    },
};
use svc_store::terms;
use svc_versions::Context;

use super::{Terms, errors, fields::object_type};
use crate::caller;

impl Terms {
    /// Creates or updates a term from a request. Returns the stored term.
    pub(super) async fn save(&self, req: &Request, existing: Option<TermId>) -> Result<Term> {
        if !self.taxonomy.hierarchical && req.param("parent").is_some() {
            return Err(errors::not_hierarchical());
        }
        let mut draft: TermDraft = self.fields.typed(req).accepted()?;
        let values = draft.meta.take();
        let (site, taxonomy) = (Arc::clone(&self.site), Arc::clone(&self.taxonomy));
        let settings = self.site.settings(req.cx())?;
        let job = SaveTerm { site, settings, caller: caller(req), taxonomy, draft, existing };
        let term = self.site.write(req.cx(), move |tx| job.run(tx)).await?;
        self.save_around(req, &term, values).await?;
        Ok(term)
    }

    /// Stores the meta and the additional fields of an existing term.
    pub(crate) async fn save_around(&self, req: &Request, term: &Term, meta: Option<serde_json::Value>) -> Result<()> {
        if let Some(values) = meta {
            let (site, settings, caller) = (Arc::clone(&self.site), self.site.settings(req.cx())?, caller(req));
            let stored = term.clone();
            self.site.write(req.cx(), move |tx| store_meta(tx, &site, &settings, &caller, &stored, &values)).await?;
        }
        let id = u64::try_from(term.id.0).unwrap_or_default();
        self.extra.update(object_type(&self.taxonomy), &ObjectId::from(id), req).await
    }

    /// Deletes a term permanently. Posts left without a term of the taxonomy get the default term.
    pub(super) async fn remove(&self, cx: &Context, id: TermId) -> Result<()> {
        let taxonomy = Arc::clone(&self.taxonomy);
        self.site
            .write(cx, move |tx| {
                let term = terms::get(tx, id, Some(&taxonomy.name))?.ok_or_else(errors::not_found)?;
                let default = default_term(tx, &taxonomy.name)?;
                delete_items_for_term(tx, &term)?;
                term_is_deleted(tx, term.id)?;
                terms::delete(tx, &term, default.as_ref())?;
                Ok(())
            })
            .await
    }
}
