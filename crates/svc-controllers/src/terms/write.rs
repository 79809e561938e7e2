//! Stores what a request makes of a term.
//!
//! The term itself is one transaction; its meta is a second one, so that a refused meta value leaves a term that is there
//! and whole, as the peer does.

use std::sync::Arc;

use svc_model::{Term, TermId};
use svc_routing::{ObjectId, Request, Result};
use svc_site::{
    menus::on_delete::term_gone,
    terms::{
        draft::TermDraft,
        save::{Job, default_term, store_meta},
    },
};
use svc_store::terms;

use super::{Terms, errors, fields::object_type};
use crate::{caller, respond};

impl Terms {
    /// Creates or changes a term as the request says; gives it as stored.
    pub(super) async fn save(&self, req: &Request, existing: Option<TermId>) -> Result<Term> {
        if !self.taxonomy.hierarchical && req.param("parent").is_some() {
            return Err(errors::not_hierarchical());
        }
        let mut draft = TermDraft::default();
        self.fields.apply(&mut draft, |name| respond::given(req, name))?;
        let values = draft.meta.take();
        let job = Job { taxonomy: Arc::clone(&self.taxonomy), draft, existing };
        let term = self.site.write(move |tx| job.run(tx)).await?;
        self.save_around(req, &term, values).await?;
        Ok(term)
    }

    /// Stores what goes with a term that is there: its meta and its additional fields.
    pub(crate) async fn save_around(&self, req: &Request, term: &Term, meta: Option<serde_json::Value>) -> Result<()> {
        if let Some(values) = meta {
            let (site, settings, caller) = (Arc::clone(&self.site), self.site.settings()?, caller(req));
            let about = term.clone();
            self.site.write(move |tx| store_meta(tx, &site, &settings, &caller, &about, &values)).await?;
        }
        let number = u64::try_from(term.id.0).unwrap_or_default();
        self.extra.update(object_type(&self.taxonomy), &ObjectId::from(number), req).await
    }

    /// Deletes a term for good. Posts that are left without any term of the taxonomy get its default one.
    pub(super) async fn remove(&self, id: TermId) -> Result<()> {
        let taxonomy = Arc::clone(&self.taxonomy);
        self.site
            .write(move |tx| {
                let term = terms::get(tx, id, Some(&taxonomy.name))?.ok_or_else(errors::not_found)?;
                let default = default_term(tx, &taxonomy.name)?;
                term_gone(tx, &term)?;
                terms::delete(tx, &term, default.as_ref())?;
                Ok(())
            })
            .await
    }
}
