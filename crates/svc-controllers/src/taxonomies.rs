//! Taxonomies of the REST API: list and fetch.
//!
//! They are public. Context `edit`, with capabilities and labels, requires permission to assign terms of the taxonomy.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_auth::Caller;
use svc_model::Taxonomy;
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Link, Links, Map, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Args, Error, Schema,
    build::{SchemaBuilder, array, boolean, object, string, untyped},
};
use svc_site::Access;

use crate::{
    LINK_RELATION, RestSite,
    args::context_arg,
    caller,
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    errors, labels, respond,
};

/// The object type that additional fields name.
const OBJECT: &str = "taxonomy";

/// The caller may not view any taxonomy in context `edit`.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to assign terms of any taxonomy.")
}

/// No such taxonomy.
fn not_found() -> Error {
    Error::new("rest_taxonomy_invalid", "There is no such taxonomy.").with_status(404)
}

/// A taxonomy with the data that its fields read.
struct TaxonomyItem {
    taxonomy: Taxonomy,
    site: Arc<RestSite>,
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

#[rustfmt::skip]
fn fields() -> Fields<TaxonomyItem, ()> {
    let mut f = Fields::<TaxonomyItem, ()>::new(OBJECT);
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
    f
}

/// The family of taxonomies.
pub struct TaxonomyFamily {
    site: Arc<RestSite>,
    fields: Fields<TaxonomyItem, ()>,
    extra: ExtraFields,
}

impl TaxonomyFamily {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        TaxonomyFamily { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    /// The prepared fields of a taxonomy, and its links if they are requested.
    async fn show(&self, taxonomy: &Taxonomy, req: &Request) -> Result<(Map, Option<Links>)> {
        let view = respond::view(req);
        let item = TaxonomyItem { taxonomy: taxonomy.clone(), site: Arc::clone(&self.site) };
        let mut data = self.fields.plan(&view).prepare(&item);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        if !view.wants_links() {
            return Ok((data, None));
        }
        let urls = &self.site.settings()?.urls;
        let mut links = Links::new();
        links.add("collection", Link::new(urls.rest(&format!("/{}/taxonomies", self.site.brand.namespace()))));
        links.add(format!("{LINK_RELATION}items"), Link::new(urls.rest(&self.site.route_of_taxonomy(taxonomy))));
        Ok((data, Some(links)))
    }

    /// Whether the caller may assign terms of this taxonomy.
    fn may_assign(&self, taxonomy: &Taxonomy, caller: &Caller) -> Result<bool> {
        let settings = self.site.settings()?;
        Ok(Access::new(&self.site, &settings).can(caller, &taxonomy.caps.assign_terms))
    }

    /// The requested taxonomies that are visible to this request, in registration order.
    fn visible(&self, req: &Request) -> Result<Vec<Taxonomy>> {
        let caller = caller(req);
        let object_type: Option<String> = req.arg("type")?;
        let is_requested = |t: &Taxonomy| match object_type.as_deref() {
            None | Some("" | "0") => true,
            Some(name) => t.object_types.iter().any(|o| o == name),
        };
        let mut visible = Vec::new();
        for taxonomy in self.site.taxonomies.iter().filter(|t| t.show_in_rest && is_requested(t)) {
            if req.context() != "edit" || self.may_assign(taxonomy, &caller)? {
                visible.push(taxonomy.clone());
            }
        }
        Ok(visible)
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        if req.context() == "edit" && self.visible(&req)?.is_empty() { Err(cannot_view(&req)) } else { Ok(()) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let mut items = Vec::new();
        for taxonomy in self.visible(&req)? {
            let (item, links) = self.show(&taxonomy, &req).await?;
            items.push((taxonomy.name, item, links));
        }
        let items = respond::keyed(items, &req);
        // Unlike in other registry routes, an empty list is an object.
        Ok(Response::new(if items.is_array() { Value::Object(Map::new()) } else { items }))
    }

    /// Returns `None` if the taxonomy does not exist: the handler then returns 404.
    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Option<Taxonomy>> {
        let name: String = req.require("taxonomy")?;
        let Some(taxonomy) = self.site.taxonomies.get(&name) else { return Ok(None) };
        if !taxonomy.show_in_rest {
            return Err(errors::forbidden(&req));
        }
        if req.context() == "edit" && !self.may_assign(taxonomy, &caller(&req))? {
            return Err(errors::forbidden_context(&req));
        }
        Ok(Some(taxonomy.clone()))
    }

    async fn fetch(self: Arc<Self>, req: Request, taxonomy: Option<Taxonomy>) -> Result<Response> {
        let taxonomy = taxonomy.ok_or_else(not_found)?;
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let (data, links) = self.show(&taxonomy, &req).await?;
        Ok(respond::single(data, links))
    }
}

impl Controller for TaxonomyFamily {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let object_type = string().describe("Only return taxonomies of this post type.");
        let name = Args::from([("taxonomy", string().describe("Name of the taxonomy."))]);
        vec![
            Route::new("/taxonomies")
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).cacheable().args(Args::from([("context", context_arg()), ("type", object_type.into())]))),
            Route::new(r"/taxonomies/(?P<taxonomy>[\w-]+)")
                .schema(schema)
                .args(name)
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(Args::from([("context", context_arg())]))),
        ]
    }
}
