//! Post formats: terms of their own taxonomy.

use svc_model::{PostId, Term, TermId};
use svc_store::{
    Db,
    posts::{Clauses, Relation, TaxClause, TaxOperator},
    terms::{self, TermQuery},
};

use crate::SiteResult;

/// The taxonomy of post formats.
pub const FORMAT: &str = "post_format";

/// The value of `include` for `sticky=true`: the sticky posts that are included, in their order, or 0 (the id of no
/// post) if there are none. It takes precedence over `exclude`.
pub fn sticky_include(sticky: &[PostId], include: &[PostId]) -> Vec<PostId> {
    let mut ids = sticky.to_vec();
    ids.retain(|id| include.is_empty() || include.contains(id));
    if ids.is_empty() { vec![PostId(0)] } else { ids }
}

/// A filter by formats. Formats are terms named `post-format-NAME`; posts with the format `standard` have none of them.
pub fn format_clauses(db: &mut Db, formats: &[String]) -> SiteResult<Clauses<TaxClause>> {
    let query = TermQuery::default().taxonomies(vec![FORMAT.to_owned()]);
    let known = terms::query(db, &query)?.ids;
    let known = terms::get_many(db, &known)?;
    let named = |term: &&Term| term.slug.strip_prefix("post-format-").is_some_and(|f| formats.iter().any(|g| g == f));
    let clause = |terms: Vec<TermId>, operator| TaxClause {
        taxonomy: FORMAT.to_owned(),
        terms,
        operator,
        ..TaxClause::default()
    };
    let wanted = clause(known.iter().filter(named).map(|t| t.id).collect(), TaxOperator::In);
    let mut any = Clauses { relation: Relation::Or, clauses: vec![wanted] };
    if formats.iter().any(|f| f == "standard") {
        if known.is_empty() {
            // No format term exists, so all posts are standard.
            return Ok(Clauses::default());
        }
        any.clauses.push(clause(known.iter().map(|t| t.id).collect(), TaxOperator::NotIn));
    }
    Ok(any)
}

/// The supported formats; `standard` means that a post has no format term.
pub const FORMATS: [&str; 10] =
    ["standard", "aside", "chat", "gallery", "link", "image", "quote", "status", "video", "audio"];
