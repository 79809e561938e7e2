//! Taxonomies of the REST API: list and fetch.
//!
//! They are public. Context `edit`, with capabilities and labels, requires permission to assign terms of the taxonomy.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_auth::Caller;
use svc_model::Taxonomy;
use svc_resource::Fields;
use svc_routing::{Link, Links, Request, Result, Route, forbidden};
use svc_schema::{
    Arg, Args, Error,
    build::{SchemaBuilder, array, boolean, object, string, untyped},
};
use svc_site::{Access, Site};
use svc_versions::Context;

use crate::{
    LINK_RELATION, RestSite,
    args::context_args,
    caller,
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    errors, labels,
    registry_family::{ListForm, Listed, RegistryEntries, RegistryFamily, route_url},
};

/// The caller may not view any taxonomy in context `edit`.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to assign terms of any taxonomy.")
}

/// No such taxonomy.
fn not_found() -> Error {
    Error::new("rest_taxonomy_invalid", "There is no such taxonomy.").with_status(404)
}

/// A taxonomy with the data that its fields read.
pub struct TaxonomyItem {
    taxonomy: Taxonomy,
    site: Arc<Site>,
}

impl TaxonomyItem {
    fn capabilities(&self) -> Value {
        let caps = &self.taxonomy.caps;
        json!({
            "manage_terms": caps.manage_terms,
            "edit_terms": caps.edit_terms,
            "delete_terms": caps.delete_terms,
            "assign_terms": caps.assign_terms,
        })
    }
}

/// An object without described properties.
fn map() -> SchemaBuilder {
    untyped().keyword("type", "object")
}

/// The taxonomies of the REST API.
pub struct TaxonomyFamily;

/// Whether the caller may assign terms of this taxonomy.
fn may_assign(cx: &Context, site: &Arc<Site>, taxonomy: &Taxonomy, caller: &Caller) -> Result<bool> {
    let settings = site.settings(cx)?;
    Ok(Access::new(site, &settings).can(caller, &taxonomy.caps.assign_terms))
}

/// The requested taxonomies that are visible to this request, in registration order.
fn visible(site: &Arc<Site>, req: &Request) -> Result<Vec<TaxonomyItem>> {
    let caller = caller(req);
    let object_type: Option<String> = req.arg("type")?;
    let is_requested = |t: &Taxonomy| match object_type.as_deref() {
        None | Some("" | "0") => true,
        Some(name) => t.object_types.iter().any(|o| o == name),
    };
    let mut visible = Vec::new();
    for taxonomy in site.registries.taxonomies.iter().filter(|t| t.show_in_rest && is_requested(t)) {
        if req.context() != "edit" || may_assign(req.cx(), site, taxonomy, &caller)? {
            visible.push(item(site, taxonomy));
        }
    }
    Ok(visible)
}

fn item(site: &Arc<Site>, taxonomy: &Taxonomy) -> TaxonomyItem {
    TaxonomyItem { taxonomy: taxonomy.clone(), site: Arc::clone(site) }
}

impl RegistryEntries for TaxonomyFamily {
    type Entry = TaxonomyItem;
    const OBJECT: &'static str = "taxonomy";
    const CACHEABLE: bool = true;
    const LIST: ListForm<TaxonomyItem> = ListForm::Object(|t| &t.taxonomy.name);

    #[rustfmt::skip]
    fn fields() -> Fields<TaxonomyItem, ()> {
        let mut f = Fields::<TaxonomyItem, ()>::new(Self::OBJECT);
        f.add("name", string().describe("Display name of the taxonomy.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.taxonomy.label.clone());
        f.add("slug", string().describe("Identifier of the taxonomy.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.taxonomy.name.clone());
        f.add("capabilities", map().describe("Capabilities that control access to terms of the taxonomy.").context(EDIT).readonly()).get(TaxonomyItem::capabilities);
        f.add("description", string().describe("Description of the taxonomy.").context(VIEW_EDIT).readonly()).get(|t| t.taxonomy.description.clone());
        f.add("labels", map().describe("Labels for the user interface.").context(EDIT).readonly()).get(|t| labels::of_taxonomy(&t.taxonomy));
        f.add("types", array(string()).describe("Post types that use the taxonomy.").context(VIEW_EDIT).readonly()).get(|t| t.taxonomy.object_types.clone());
        f.add("show_cloud", boolean().describe("Whether a tag cloud can list the terms.").context(EDIT).readonly()).get(|t| t.taxonomy.show_tagcloud);
        f.add("hierarchical", boolean().describe("Whether terms of the taxonomy can have parents.").context(VIEW_EDIT).readonly()).get(|t| t.taxonomy.hierarchical);
        f.add("rest_base", string().describe("Last segment of the taxonomy's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.taxonomy.rest_base.clone());
        f.add("rest_namespace", string().describe("Namespace of the taxonomy's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.site.brand.namespace());
        let visibility = f.add("visibility", object([("", Value::Null); 0]).describe("Where the taxonomy is visible.").context(EDIT).readonly());
        visibility.exact_field();
        visibility.subfield("public", boolean().describe("Whether the taxonomy is visible to visitors and in the editor.")).get(|t| t.taxonomy.public);
        visibility.subfield("publicly_queryable", boolean().describe("Whether visitors can query the terms.")).get(|t| t.taxonomy.publicly_queryable);
        visibility.subfield("show_admin_column", boolean().describe("Whether post lists have a column for the terms.")).get(|t| t.taxonomy.show_admin_column);
        visibility.subfield("show_in_nav_menus", boolean().describe("Whether terms can be added to navigation menus.")).get(|t| t.taxonomy.show_in_nav_menus);
        visibility.subfield("show_in_quick_edit", boolean().describe("Whether the quick edit form includes the taxonomy.")).get(|t| t.taxonomy.show_in_quick_edit);
        visibility.subfield("show_ui", boolean().describe("Whether the taxonomy has an administration screen.")).get(|t| t.taxonomy.show_ui);
        visibility.schema_order(&["public", "publicly_queryable", "show_ui"]);
        f.schema_order(&["capabilities", "description", "hierarchical", "labels", "name", "slug", "show_cloud"]);
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        if req.context() == "edit" && visible(&rest.site, req)?.is_empty() { Err(cannot_view(req)) } else { Ok(()) }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<TaxonomyItem>> {
        Ok(visible(&rest.site, req)?.into())
    }

    fn links(rest: &Arc<RestSite>, item: &TaxonomyItem, req: &Request) -> Result<Links> {
        let mut links = Links::new();
        links.add("collection", Link::new(route_url(req.cx(), &rest.site, "taxonomies")?));
        let items = rest.site.settings(req.cx())?.urls.rest(&rest.site.route_of_taxonomy(&item.taxonomy));
        links.add(format!("{LINK_RELATION}items"), Link::new(items));
        Ok(links)
    }

    /// Succeeds if the taxonomy does not exist: the handler then returns 404.
    fn check_fetch(rest: &Arc<RestSite>, req: &Request) -> Result<Option<TaxonomyItem>> {
        let name: String = req.require("taxonomy")?;
        let Some(taxonomy) = rest.site.registries.taxonomies.get(&name) else { return Ok(None) };
        if !taxonomy.show_in_rest {
            return Err(errors::forbidden(req));
        }
        if req.context() == "edit" && !may_assign(req.cx(), &rest.site, taxonomy, &caller(req))? {
            return Err(errors::forbidden_context(req));
        }
        Ok(Some(item(&rest.site, taxonomy)))
    }

    async fn find(_: &Arc<RestSite>, _: &Request) -> Result<TaxonomyItem> {
        Err(not_found())
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let object_type = string().describe("Only return taxonomies of this post type.");
        let name = Args::from([("taxonomy", string().describe("Name of the taxonomy."))]);
        vec![
            family.list_route("/taxonomies", context_args().with("type", Arg::from(object_type))),
            family.fetch_route(r"/taxonomies/(?P<taxonomy>[\w-]+)", context_args()).args(name),
        ]
    }
}
