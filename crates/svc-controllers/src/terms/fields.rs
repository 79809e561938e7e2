//! Fields of terms of every taxonomy: schema, getter and setter.

use std::sync::Arc;

use svc_model::{Taxonomy, Term};
use svc_resource::Fields;
use svc_schema::build::{integer, string};
use svc_site::{Settings, Site, languages::Languages, terms::draft::TermDraft};
use svc_store::Meta;

use crate::{
    contexts::{VIEW_EDIT, VIEW_EMBED_EDIT},
    item_languages::{ItemLanguages, LANG, TRANSLATIONS, lang_field, translations_field},
};

/// The fields of terms.
pub(crate) type TermFields = Fields<TermItem, TermDraft>;

/// A term with all loaded data that its fields read.
pub(crate) struct TermItem {
    /// The row.
    pub(crate) term: Term,
    /// Its taxonomy.
    pub(crate) taxonomy: Arc<Taxonomy>,
    /// The site.
    pub(crate) site: Arc<Site>,
    /// The site's options as of this request.
    pub(crate) settings: Arc<Settings>,
    /// Its language and translations; empty when the plan does not read them.
    pub(crate) languages: ItemLanguages,
    /// Stored meta; empty when the plan reads none.
    pub(crate) meta: Meta,
    /// Slugs from the top-level ancestor to the term itself; empty when neither the plan nor the taxonomy's URLs need
    /// them.
    pub(crate) path: Vec<String>,
}

impl TermItem {
    /// URL of the term's archive.
    fn link(&self) -> String {
        let ancestors = self.path.split_last().map_or(&[][..], |(_, ancestors)| ancestors);
        let ancestors: Vec<&str> = ancestors.iter().map(String::as_str).collect();
        self.settings.urls.term(&self.term, &self.taxonomy, &ancestors, self.languages.slug.as_ref())
    }
}

/// The object type of a taxonomy's terms in additional fields and the item schema.
pub(crate) fn object_type(taxonomy: &Taxonomy) -> &str {
    if taxonomy.name == "post_tag" { "tag" } else { &taxonomy.name }
}

/// Adds the fields of a taxonomy whose terms have languages.
pub(super) fn add_languages(f: &mut TermFields, languages: &Languages) {
    f.add(LANG, lang_field(languages)).exact_field().get(|t| t.languages.slug.clone()).set(|d, v| d.language = Some(v));
    f.add(TRANSLATIONS, translations_field(languages))
        .exact_field()
        .get(|t| t.languages.translations.clone())
        .set(|d, v| d.translations = Some(v));
}

/// The fields of this taxonomy on this site. As in WordPress, null is the empty value.
#[rustfmt::skip]
pub(crate) fn fields(site: &Site, taxonomy: &Taxonomy) -> TermFields {
    let mut f = TermFields::new(object_type(taxonomy));
    f.add("id", integer().describe("The term's ID.").context(VIEW_EMBED_EDIT).readonly()).get(|t| t.term.id);
    f.add("count", integer().describe("Number of published posts with the term.").context(VIEW_EDIT).readonly()).get(|t| t.term.count);
    f.add("description", string().describe("Description of the term, as HTML.").context(VIEW_EDIT))
        .get(|t| t.term.description.clone()).set_nullable(|d, v: Option<String>| d.description = Some(v.unwrap_or_default()));
    f.add("link", string().describe("URL of the term's archive.").format("uri").context(VIEW_EMBED_EDIT).readonly()).get(TermItem::link);
    f.add("name", string().describe("The term's name, as HTML.").context(VIEW_EMBED_EDIT).required())
        .get(|t| t.term.name.clone()).set_nullable(|d, v: Option<String>| d.name = Some(v.unwrap_or_default()));
    f.add("slug", string().describe("Name of the term in URLs; unique within its taxonomy.").context(VIEW_EMBED_EDIT))
        .get(|t| t.term.slug.clone()).set_nullable(|d, v: Option<String>| d.slug = Some(v.unwrap_or_default()));
    f.add("taxonomy", string().describe("The term's taxonomy.").one_of([taxonomy.name.as_str()]).context(VIEW_EMBED_EDIT).readonly()).get(|t| t.term.taxonomy.clone());
    if taxonomy.hierarchical {
        f.add("parent", integer().describe("Number of the term ancestors this one.").context(VIEW_EDIT))
            .get(|t| t.term.parent).set_nullable(|d, v: Option<i64>| d.parent = Some(v.unwrap_or_default()));
    }
    crate::meta_fields::add_member(&mut f, &site.registries.meta, "term", &taxonomy.name, |t| &t.meta).set(|d, v| d.meta = Some(v));
    f.all_exact()
}
