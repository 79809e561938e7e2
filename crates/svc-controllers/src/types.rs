//! Post types of the REST API: list and fetch.
//!
//! They are public. Context `edit`, with capabilities and labels, requires permission to edit posts of the type.

use std::sync::Arc;

use serde_json::{Map, Value};
use svc_auth::Caller;
use svc_model::PostType;
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Link, Links, Request, Response, Result, Route, forbidden, get, public};
use svc_schema::{
    Args, Error, Schema,
    build::{SchemaBuilder, array, boolean, object, string, types, untyped},
};
use svc_site::Access;

use crate::{
    LINK_RELATION, RestSite,
    args::context_arg,
    caller,
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    errors::forbidden_context,
    labels, respond,
};

/// The object type that additional fields name.
const OBJECT: &str = "type";

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
struct TypeItem {
    post_type: PostType,
    site: Arc<RestSite>,
}

impl TypeItem {
    /// Names of the taxonomies that posts of the type have.
    fn taxonomies(&self) -> Value {
        let all = self.site.taxonomies.of_type(&self.post_type.name).filter(|t| t.show_in_rest);
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

#[rustfmt::skip]
fn fields() -> Fields<TypeItem, ()> {
    let mut f = Fields::<TypeItem, ()>::new(OBJECT);
    let locks = [Value::from("all"), Value::from("insert"), Value::from("contentOnly"), Value::Bool(false)];
    f.add("capabilities", map().describe("Capabilities that control access to posts of the type.").context(EDIT).readonly()).get(TypeItem::capabilities);
    f.add("description", string().describe("Description of the type.").context(VIEW_EDIT).readonly()).get(|t| t.post_type.description.clone());
    f.add("hierarchical", boolean().describe("Whether posts of the type can have parents.").context(VIEW_EDIT).readonly()).get(|t| t.post_type.hierarchical);
    f.add("has_archive", types(["string", "boolean"]).describe("Path of the type's archive, or false if it has none.").context(VIEW_EDIT).readonly()).get(TypeItem::has_archive);
    let visibility = f.add("visibility", object([("", Value::Null); 0]).describe("Where the type is visible in the editor.").context(EDIT).readonly());
    visibility.subfield("show_in_nav_menus", boolean().describe("Whether posts of the type can be added to navigation menus.")).get(|t| t.post_type.show_in_nav_menus);
    visibility.subfield("show_ui", boolean().describe("Whether the type has an administration screen.")).get(|t| t.post_type.show_ui);
    f.add("viewable", boolean().describe("Whether posts of the type have their own pages.").context(EDIT).readonly()).get(|t| t.post_type.is_viewable());
    f.add("labels", map().describe("Labels for the user interface.").context(EDIT).readonly()).get(|t| labels::of_type(&t.post_type));
    f.add("name", string().describe("Display name of the type.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.label.clone());
    f.add("slug", string().describe("Identifier of the type.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.name.clone());
    f.add("icon", types(["string", "null"]).describe("The type's icon.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.menu_icon.clone());
    f.add("supports", map().describe("Features that posts of the type have.").context(EDIT).readonly()).get(TypeItem::supports);
    f.add("taxonomies", array(string()).describe("Taxonomies of the type's posts.").context(VIEW_EDIT).readonly()).get(TypeItem::taxonomies);
    f.add("rest_base", string().describe("Last segment of the type's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.rest_base.clone());
    f.add("rest_namespace", string().describe("Namespace of the type's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.site.brand.namespace());
    f.add("template", types(["array"]).describe("Blocks of a new post of the type.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.template.clone());
    f.add("template_lock", types(["string", "boolean"]).describe("Restrictions on changing these blocks.").one_of(locks).context(VIEW_EDIT_EMBED).readonly()).get(|t| t.post_type.template_lock.clone());
    f
}

/// The family of post types.
pub struct Types {
    site: Arc<RestSite>,
    fields: Fields<TypeItem, ()>,
    extra: ExtraFields,
}

impl Types {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        Types { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    /// The prepared fields of a type, and its links if they are requested.
    async fn show(&self, post_type: &PostType, req: &Request) -> Result<(svc_routing::Map, Option<Links>)> {
        let view = respond::view(req);
        let item = TypeItem { post_type: post_type.clone(), site: Arc::clone(&self.site) };
        let mut data = self.fields.plan(&view).prepare(&item);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        if !view.wants_links() {
            return Ok((data, None));
        }
        let urls = &self.site.settings()?.urls;
        let mut links = Links::new();
        links.add("collection", Link::new(urls.rest(&format!("/{}/types", self.site.brand.namespace()))));
        links.add(format!("{LINK_RELATION}items"), Link::new(urls.rest(&self.site.route_of_type(post_type))));
        Ok((data, Some(links)))
    }

    /// Whether the caller may edit posts of this type.
    fn may_edit(&self, post_type: &PostType, caller: &Caller) -> Result<bool> {
        let settings = self.site.settings()?;
        Ok(Access::new(&self.site, &settings).can(caller, &post_type.caps.edit_posts))
    }

    /// The types that are visible to this request, in registration order.
    fn visible(&self, req: &Request) -> Result<Vec<PostType>> {
        let caller = caller(req);
        let mut visible = Vec::new();
        for post_type in self.site.types.iter().filter(|t| t.show_in_rest) {
            if req.context() != "edit" || self.may_edit(post_type, &caller)? {
                visible.push(post_type.clone());
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
        for post_type in self.visible(&req)? {
            let (item, links) = self.show(&post_type, &req).await?;
            items.push((post_type.name, item, links));
        }
        Ok(Response::new(respond::keyed(items, &req)))
    }

    /// Checks access here and not in a permission check: as in WordPress, `Allow` lists GET even for types that the
    /// caller may not read.
    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let name: String = req.require("type")?;
        let post_type = self.site.types.get(&name).ok_or_else(not_found)?;
        if !post_type.show_in_rest {
            return Err(cannot_read(&req));
        }
        if req.context() == "edit" && !self.may_edit(post_type, &caller(&req))? {
            return Err(forbidden_context(&req));
        }
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let (data, links) = self.show(post_type, &req).await?;
        Ok(respond::single(data, links))
    }
}

impl Controller for Types {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let context = || Args::from([("context", context_arg())]);
        let name = Args::from([("type", string().describe("Name of the type."))]);
        vec![
            Route::new("/types")
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).cacheable().args(context())),
            Route::new(r"/types/(?P<type>[\w-]+)")
                .schema(schema)
                .args(name)
                .endpoint(get(Self::fetch, public).cacheable().args(context())),
        ]
    }
}
