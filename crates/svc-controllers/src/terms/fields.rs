//! Members of a term of any taxonomy, each named once: schema, how it is read, how it is written.

use std::sync::Arc;

use svc_model::{Taxonomy, Term};
use svc_resource::Fields;
use svc_schema::build::{integer, string};
use svc_site::{Settings, terms::draft::TermDraft};
use svc_store::Meta;

use crate::{
    RestSite,
    contexts::{VIEW_EDIT, VIEW_EMBED_EDIT},
};

/// The table of terms.
pub(crate) type TermFields = Fields<TermItem, TermDraft>;

/// A term with everything loaded that its members read.
pub(crate) struct TermItem {
    /// The row.
    pub(crate) term: Term,
    /// Its taxonomy.
    pub(crate) taxonomy: Arc<Taxonomy>,
    /// The site.
    pub(crate) site: Arc<RestSite>,
    /// The site's options as of this request.
    pub(crate) settings: Arc<Settings>,
    /// Stored meta; empty when the plan reads none.
    pub(crate) meta: Meta,
    /// Slugs from the top down to the term itself; empty when the plan, or the taxonomy's addresses, do not name them.
    pub(crate) path: Vec<String>,
}

impl TermItem {
    /// Address of the term's archive.
    fn link(&self) -> String {
        let above = self.path.split_last().map_or(&[][..], |(_, above)| above);
        let above: Vec<&str> = above.iter().map(String::as_str).collect();
        self.settings.urls.term(&self.term, &self.taxonomy, &above)
    }
}

/// What additional fields and the item schema call terms of a taxonomy.
pub(crate) fn object_type(taxonomy: &Taxonomy) -> &str {
    if taxonomy.name == "post_tag" { "tag" } else { &taxonomy.name }
}

/// The table of this taxonomy on this site. Null stands for the empty value, as the peer takes it.
#[rustfmt::skip]
pub(crate) fn fields(site: &RestSite, taxonomy: &Taxonomy) -> TermFields {
    let mut f = TermFields::new(object_type(taxonomy));
    f.add("id", integer().describe("Number that identifies the term.").context(VIEW_EMBED_EDIT).readonly()).get(|t| t.term.id);
    f.add("count", integer().describe("Number of published posts that have the term.").context(VIEW_EDIT).readonly()).get(|t| t.term.count);
    f.add("description", string().describe("What the term stands for, as HTML.").context(VIEW_EDIT))
        .get(|t| t.term.description.clone()).set_nullable(|d, v: Option<String>| d.description = Some(v.unwrap_or_default()));
    f.add("link", string().describe("Address of the term's archive.").format("uri").context(VIEW_EMBED_EDIT).readonly()).get(TermItem::link);
    f.add("name", string().describe("The term's name, as HTML.").context(VIEW_EMBED_EDIT).required())
        .get(|t| t.term.name.clone()).set_nullable(|d, v: Option<String>| d.name = Some(v.unwrap_or_default()));
    f.add("slug", string().describe("Name of the term within its taxonomy, as it stands in addresses.").context(VIEW_EMBED_EDIT))
        .get(|t| t.term.slug.clone()).set_nullable(|d, v: Option<String>| d.slug = Some(v.unwrap_or_default()));
    f.add("taxonomy", string().describe("The term's taxonomy.").one_of([taxonomy.name.as_str()]).context(VIEW_EMBED_EDIT).readonly()).get(|t| t.term.taxonomy.clone());
    if taxonomy.hierarchical {
        f.add("parent", integer().describe("Number of the term above this one.").context(VIEW_EDIT))
            .get(|t| t.term.parent).set_nullable(|d, v: Option<i64>| d.parent = Some(v.unwrap_or_default()));
    }
    crate::meta_fields::add_member(&mut f, &site.meta, "term", &taxonomy.name, |t| &t.meta).set(|d, v| d.meta = Some(v));
    f.all_exact()
}
