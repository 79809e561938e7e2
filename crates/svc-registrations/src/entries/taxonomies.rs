//! `[[taxonomies]]`.

use serde::Deserialize;
use svc_model::{Taxonomies, Taxonomy};
use validator::{Validate, ValidationError};

use super::{
    TableEntry,
    checks::{check_free, check_name, check_rest_base, check_slug},
    override_with, yes,
};

/// `[[taxonomies]]`
#[derive(Clone, Debug, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
#[validate(schema(function = "check_free_taxonomy", skip_on_field_errors = false))]
pub(super) struct TaxonomyEntry {
    #[validate(custom(function = "check_taxonomy_name"))]
    name: String,
    types: Vec<String>,
    label: Option<String>,
    singular: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default = "yes")]
    public: bool,
    #[serde(default)]
    hierarchical: bool,
    #[serde(default = "yes")]
    in_interface: bool,
    #[validate(custom(function = "check_rest_base"))]
    rest_base: Option<String>,
    #[validate(custom(function = "check_slug"))]
    slug: Option<String>,
    // By default these follow from `public`.
    queryable: Option<bool>,
    show_ui: Option<bool>,
    show_in_nav_menus: Option<bool>,
    show_tagcloud: Option<bool>,
    show_in_quick_edit: Option<bool>,
    #[serde(default)]
    show_admin_column: bool,
}

impl TableEntry for TaxonomyEntry {
    const FIELDS: &'static [&'static str] = &["name", "__all__", "rest_base", "slug"];

    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn check_taxonomy_name(name: &str) -> Result<(), ValidationError> {
    check_name(name, 32)
}

fn check_free_taxonomy(entry: &TaxonomyEntry) -> Result<(), ValidationError> {
    let (own, core) = (entry.taxonomy(), Taxonomies::default());
    check_free("taxonomy", (&own.name, &own.rest_base), core.iter().map(|t| (&*t.name, &*t.rest_base)))
}

impl TaxonomyEntry {
    pub(super) fn taxonomy(&self) -> Taxonomy {
        let types: Vec<&str> = self.types.iter().map(String::as_str).collect();
        let label = self.label.as_deref().unwrap_or(&self.name);
        let mut taxonomy = Taxonomy::new(&self.name, &types).labelled(label, self.singular.as_deref().unwrap_or(label));
        if self.hierarchical {
            taxonomy = taxonomy.hierarchical();
        }
        taxonomy.show_in_rest = self.in_interface;
        override_with(&mut taxonomy.rest_base, self.rest_base.clone());
        taxonomy.description.clone_from(&self.description);
        if let Some(slug) = &self.slug {
            taxonomy.rewrite_slug = Some(slug.clone());
        }
        if !self.public {
            for flag in [
                &mut taxonomy.public,
                &mut taxonomy.publicly_queryable,
                &mut taxonomy.show_ui,
                &mut taxonomy.show_in_nav_menus,
                &mut taxonomy.show_tagcloud,
                &mut taxonomy.show_in_quick_edit,
            ] {
                *flag = false;
            }
            // The link of such a term is a path, although there is no page at that path.
            taxonomy.query_var = None;
        }
        override_with(&mut taxonomy.publicly_queryable, self.queryable);
        override_with(&mut taxonomy.show_ui, self.show_ui);
        override_with(&mut taxonomy.show_in_nav_menus, self.show_in_nav_menus);
        override_with(&mut taxonomy.show_tagcloud, self.show_tagcloud);
        override_with(&mut taxonomy.show_in_quick_edit, self.show_in_quick_edit);
        taxonomy.show_admin_column = self.show_admin_column;
        taxonomy
    }
}
