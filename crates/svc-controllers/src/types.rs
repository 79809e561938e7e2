//! Post types of the REST API: list and fetch.
//!
//! They are public. Context `edit`, with capabilities and labels, requires permission to edit posts of the type.

use std::sync::Arc;

use serde_json::{Map, Value};
use svc_auth::Caller;
use svc_model::PostType;
use svc_resource::Fields;
use svc_routing::{Link, Links, Request, Result, Route, forbidden};
use svc_schema::{
    Args, Error,
    build::{SchemaBuilder, array, boolean, object, string, types, untyped},
};
use svc_site::{Access, Site};
use svc_versions::Context;

use crate::{
    LINK_RELATION, RestSite,
    args::context_args,
    caller,
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    errors::forbidden_context,
    labels,
    registry_family::{ListForm, Listed, RegistryEntries, RegistryFamily, route_url},
};

/// The caller may not view any type in context `edit`.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to edit posts of any type.")
}

/// The type is not part of the REST API.
fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read_type", "You are not allowed to view this post type.")
}

/// No such type.
fn not_found() -> Error {
    Error::new("rest_type_invalid", "There is no such post type.").with_status(404)
}

/// A type with the data that its fields read.
pub struct TypeItem {
    post_type: PostType,
    site: Arc<Site>,
}

impl TypeItem {
    /// Names of the taxonomies that posts of the type have.
    fn taxonomies(&self) -> Value {
        let all = self.site.registries.taxonomies.of_type(&self.post_type.name).filter(|t| t.show_in_rest);
        all.map(|t| Value::from(t.name.as_str())).collect()
    }

    fn capabilities(&self) -> Value {
        let caps = self.post_type.caps.pairs();
        caps.into_iter().map(|(role, cap)| (role.to_owned(), Value::from(cap))).collect::<Map<_, _>>().into()
    }

    fn has_archive(&self) -> Value {
        self.post_type.has_archive.as_deref().map_or(Value::Bool(false), Value::from)
    }

    fn supports(&self) -> Value {
        let all = self.post_type.supports.iter().map(|(name, value)| (name.clone(), value.clone()));
        svc_php::list::list_shape(all.collect::<Map<_, _>>().into())
    }
}

/// An object without described properties.
fn map() -> SchemaBuilder {
    untyped().keyword("type", "object")
}

/// The post types of the REST API.
pub struct Types;

/// Whether the caller may edit posts of this type.
fn may_edit(cx: &Context, site: &Arc<Site>, post_type: &PostType, caller: &Caller) -> Result<bool> {
    let settings = site.settings(cx)?;
    Ok(Access::new(site, &settings).can(caller, &post_type.caps.edit_posts))
}

/// The types that are visible to this request, in registration order.
fn visible(site: &Arc<Site>, req: &Request) -> Result<Vec<TypeItem>> {
    let caller = caller(req);
    let mut visible = Vec::new();
    for post_type in site.registries.types.iter().filter(|t| t.show_in_rest) {
        if req.context() != "edit" || may_edit(req.cx(), site, post_type, &caller)? {
            visible.push(item(site, post_type));
        }
    }
    Ok(visible)
}

fn item(site: &Arc<Site>, post_type: &PostType) -> TypeItem {
    TypeItem { post_type: post_type.clone(), site: Arc::clone(site) }
}

impl RegistryEntries for Types {
    type Entry = TypeItem;
    const OBJECT: &'static str = "type";
    const CACHEABLE: bool = true;
    const LIST: ListForm<TypeItem> = ListForm::ObjectUnlessEmpty(|t| &t.post_type.name);

    #[rustfmt::skip]
    fn fields() -> Fields<TypeItem, ()> {
        let mut f = Fields::<TypeItem, ()>::new(Self::OBJECT);
        let locks = [Value::from("all"), Value::from("insert"), Value::from("contentOnly"), Value::Bool(false)];
        f.add("capabilities", map().describe("Capabilities that control access to posts of the type.").context(EDIT).readonly()).get(TypeItem::capabilities);
        f.add("description", string().describe("Description of the type.").context(VIEW_EDIT).readonly()).get(|t| t.post_type.description.clone());
        f.add("hierarchical", boolean().describe("Whether posts of the type can have parents.").context(VIEW_EDIT).readonly()).get(|t| t.post_type.hierarchical);
        f.add("has_archive", types(["string", "boolean"]).describe("Path of the type's archive, or false if it has none.").context(VIEW_EDIT).readonly()).get(TypeItem::has_archive);
        let visibility = f.add("visibility", object([("", Value::Null); 0]).describe("Where the type is visible in the editor.").context(EDIT).readonly());
        visibility.subfield("show_in_nav_menus", boolean().describe("Whether posts of the type can be added to navigation menus.")).get(|t| t.post_type.show_in_nav_menus);
        visibility.subfield("show_ui", boolean().describe("Whether the type has an administration screen.")).get(|t| t.post_type.show_ui);
        visibility.schema_order(&["show_ui"]);
        f.add("viewable", boolean().describe("Whether posts of the type have their own pages.").context(EDIT).readonly()).get(|t| t.post_type.is_viewable());
        f.add("labels", map().describe("Labels for the user interface.").context(EDIT).readonly()).get(|t| labels::of_type(&t.post_type));
        f.add("name", string().describe("Display name of the type.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.label.clone());
        f.add("slug", string().describe("Identifier of the type.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.name.clone());
        f.add("icon", types(["string", "null"]).describe("The type's icon.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.menu_icon.clone());
        f.add("supports", map().describe("Features that posts of the type have.").context(EDIT).readonly()).get(TypeItem::supports);
        f.add("taxonomies", array(string()).describe("Taxonomies of the type's posts.").context(VIEW_EDIT).readonly()).get(TypeItem::taxonomies);
        f.add("rest_base", string().describe("Last segment of the type's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.rest_base.clone());
        f.add("rest_namespace", string().describe("Namespace of the type's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.site.brand.namespace());
        f.add("template", types(["array"]).describe("Blocks of a new post of the type.").readonly().context(VIEW_EDIT_EMBED).first(&["type"])).get(|t| t.post_type.template.clone());
        f.add("template_lock", types(["string", "boolean"]).describe("Restrictions on changing these blocks.").one_of(locks).readonly().context(VIEW_EDIT_EMBED).first(&["type", "enum"])).get(|t| t.post_type.template_lock.clone());
        f.schema_order(&[
            "capabilities", "description", "hierarchical", "viewable", "labels", "name", "slug", "supports", "has_archive", "taxonomies",
            "rest_base", "rest_namespace", "visibility",
        ]);
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        if req.context() == "edit" && visible(&rest.site, req)?.is_empty() { Err(cannot_view(req)) } else { Ok(()) }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<TypeItem>> {
        Ok(visible(&rest.site, req)?.into())
    }

    fn links(rest: &Arc<RestSite>, item: &TypeItem, req: &Request) -> Result<Links> {
        let mut links = Links::new();
        links.add("collection", Link::new(route_url(req.cx(), &rest.site, "types")?));
        let items = rest.site.settings(req.cx())?.urls.rest(&rest.site.route_of_type(&item.post_type));
        links.add(format!("{LINK_RELATION}items"), Link::new(items));
        Ok(links)
    }

    /// Always succeeds: as in WordPress, `Allow` lists GET even for types that the caller may not read.
    fn check_fetch(_: &Arc<RestSite>, _: &Request) -> Result<Option<TypeItem>> {
        Ok(None)
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<TypeItem> {
        let name: String = req.require("type")?;
        let post_type = rest.site.registries.types.get(&name).ok_or_else(not_found)?;
        if !post_type.show_in_rest {
            return Err(cannot_read(req));
        }
        if req.context() == "edit" && !may_edit(req.cx(), &rest.site, post_type, &caller(req))? {
            return Err(forbidden_context(req));
        }
        Ok(item(&rest.site, post_type))
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let name = Args::from([("type", string().describe("Name of the type."))]);
        vec![
            family.list_route("/types", context_args()),
            family.fetch_route(r"/types/(?P<type>[\w-]+)", context_args()).args(name),
        ]
    }
}
