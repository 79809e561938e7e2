//! Taxonomies that the interface serves: list and fetch.
//!
//! Everybody sees them; what they are guarded by and how editors see them (context `edit`) is for those who may give posts
//! terms of the taxonomy.

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

/// The caller may not see how editors see taxonomies.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to give posts terms of any taxonomy.")
}

/// No such taxonomy.
fn not_found() -> Error {
    Error::new("rest_taxonomy_invalid", "There is no such taxonomy.").with_status(404)
}

/// A taxonomy with what its members read.
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

/// A map whose members are not described.
fn map() -> SchemaBuilder {
    untyped().keyword("type", "object")
}

#[rustfmt::skip]
fn fields() -> Fields<TaxonomyItem, ()> {
    let mut f = Fields::<TaxonomyItem, ()>::new(OBJECT);
    f.add("name", string().describe("What people call the taxonomy.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.taxonomy.label.clone());
    f.add("slug", string().describe("The taxonomy's name for programs.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.taxonomy.name.clone());
    f.add("capabilities", map().describe("Capabilities that guard terms of the taxonomy.").context(EDIT).readonly()).get(TaxonomyItem::capabilities);
    f.add("description", string().describe("What the taxonomy is for.").context(VIEW_EDIT).readonly()).get(|t| t.taxonomy.description.clone());
    f.add("labels", map().describe("Texts for people.").context(EDIT).readonly()).get(|t| labels::of_taxonomy(&t.taxonomy));
    f.add("types", array(string()).describe("Types of posts that have terms of the taxonomy.").context(VIEW_EDIT).readonly()).get(|t| t.taxonomy.object_types.clone());
    f.add("show_cloud", boolean().describe("Whether its terms can be shown as a cloud.").context(EDIT).readonly()).get(|t| t.taxonomy.show_tagcloud);
    f.add("hierarchical", boolean().describe("Whether its terms can stand below one another.").context(VIEW_EDIT).readonly()).get(|t| t.taxonomy.hierarchical);
    f.add("rest_base", string().describe("Last part of the taxonomy's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.taxonomy.rest_base.clone());
    f.add("rest_namespace", string().describe("Namespace of the taxonomy's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.site.brand.namespace());
    let seen = f.add("visibility", object([("", Value::Null); 0]).describe("Where visitors and editors meet the taxonomy.").context(EDIT).readonly());
    seen.exact_field();
    seen.subfield("public", boolean().describe("Whether it is meant for visitors and editors at all.")).get(|t| t.taxonomy.public);
    seen.subfield("publicly_queryable", boolean().describe("Whether visitors can ask for its terms.")).get(|t| t.taxonomy.publicly_queryable);
    seen.subfield("show_admin_column", boolean().describe("Whether lists of posts have a column of its terms.")).get(|t| t.taxonomy.show_admin_column);
    seen.subfield("show_in_nav_menus", boolean().describe("Whether its terms can be put into menus.")).get(|t| t.taxonomy.show_in_nav_menus);
    seen.subfield("show_in_quick_edit", boolean().describe("Whether it stands in the quick edit form.")).get(|t| t.taxonomy.show_in_quick_edit);
    seen.subfield("show_ui", boolean().describe("Whether it is managed in the administration area.")).get(|t| t.taxonomy.show_ui);
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

    /// The wire form of a taxonomy, and its links when they are asked for.
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

    /// Whether the caller may give posts terms of this taxonomy.
    fn may_assign(&self, taxonomy: &Taxonomy, caller: &Caller) -> Result<bool> {
        let settings = self.site.settings()?;
        Ok(Access::new(&self.site, &settings).can(caller, &taxonomy.caps.assign_terms))
    }

    /// The taxonomies that this request asks for and may see, in registration order.
    fn shown(&self, req: &Request) -> Result<Vec<Taxonomy>> {
        let caller = caller(req);
        let of: Option<String> = req.arg("type")?;
        let is_asked = |t: &Taxonomy| match of.as_deref() {
            None | Some("" | "0") => true,
            Some(name) => t.object_types.iter().any(|o| o == name),
        };
        let mut shown = Vec::new();
        for taxonomy in self.site.taxonomies.iter().filter(|t| t.show_in_rest && is_asked(t)) {
            if req.context() != "edit" || self.may_assign(taxonomy, &caller)? {
                shown.push(taxonomy.clone());
            }
        }
        Ok(shown)
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        if req.context() == "edit" && self.shown(&req)?.is_empty() { Err(cannot_view(&req)) } else { Ok(()) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let mut items = Vec::new();
        for taxonomy in self.shown(&req)? {
            let (item, links) = self.show(&taxonomy, &req).await?;
            items.push((taxonomy.name, item, links));
        }
        let items = respond::keyed(items, &req);
        // Unlike the lists of other registered things, an empty one is an object.
        Ok(Response::new(if items.is_array() { Value::Object(Map::new()) } else { items }))
    }

    /// `None` for a taxonomy that does not exist: that is told by the answer, not refused.
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
        let of = string().describe("Only taxonomies of this type of posts.");
        let name = Args::from([("taxonomy", string().describe("Name of the taxonomy."))]);
        vec![
            Route::new("/taxonomies")
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).cacheable().args(Args::from([("context", context_arg()), ("type", of.into())]))),
            Route::new(r"/taxonomies/(?P<taxonomy>[\w-]+)")
                .schema(schema)
                .args(name)
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(Args::from([("context", context_arg())]))),
        ]
    }
}
