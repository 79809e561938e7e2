//! Corrects the numbers of posts per term that other programs left wrong.
//!
//! Writes of svc change these numbers by what they change (`svc_store::term_counts`) and do not count again.

use svc_model::TermTaxonomyId;
use svc_schema::Error;
use svc_store::term_counts;
use svc_versions::Context;

use crate::Site;

/// A check of all terms, which runs in small steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountCheck {
    after: TermTaxonomyId,
    n_corrected: u64,
}

impl CountCheck {
    /// Checks the next terms and corrects their counts. Returns the number of counts that were corrected since the
    /// check began if these were the last terms.
    ///
    /// # Errors
    /// Errors of the store. The step can be repeated.
    pub async fn step(&mut self, cx: &Context, site: &Site) -> Result<Option<u64>, Error> {
        let found = site.read(cx, |db| Ok(term_counts::wrong_counts(db, self.after)?))?;
        if !found.wrong.is_empty() {
            self.n_corrected += site.write(cx, move |tx| Ok(term_counts::correct_counts(tx, &found.wrong)?)).await?;
        }
        Ok(match found.last {
            Some(last) => {
                self.after = last;
                None
            }
            None => Some(self.n_corrected),
        })
    }
}
