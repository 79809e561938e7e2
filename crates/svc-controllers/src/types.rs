//! Post types that the interface serves: list and fetch.
//!
//! Everybody sees them; what they are guarded by and how editors see them (context `edit`) is for those who may write
//! posts of the type.

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

/// The caller may not see how editors see types.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to edit posts of any type.")
}

/// The type is not for the interface.
fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read_type", "You are not allowed to see this type.")
}

/// No such type.
fn not_found() -> Error {
    Error::new("rest_type_invalid", "There is no such type.").with_status(404)
}

/// A type with what its members read.
struct TypeItem {
    kind: PostType,
    site: Arc<RestSite>,
}

impl TypeItem {
    /// Names of the taxonomies that posts of the type have.
    fn taxonomies(&self) -> Value {
        let all = self.site.taxonomies.of_type(&self.kind.name).filter(|t| t.show_in_rest);
        all.map(|t| Value::from(t.name.as_str())).collect()
    }

    fn capabilities(&self) -> Value {
        let caps = self.kind.caps.pairs();
        caps.into_iter().map(|(role, cap)| (role.to_owned(), Value::from(cap))).collect::<Map<_, _>>().into()
    }

    fn has_archive(&self) -> Value {
        self.kind.has_archive.as_deref().map_or(Value::Bool(false), Value::from)
    }

    fn supports(&self) -> Value {
        let all = self.kind.supports.iter().map(|(name, value)| (name.clone(), value.clone()));
        svc_php::list::list_shape(all.collect::<Map<_, _>>().into())
    }
}

/// A map whose members are not described.
fn map() -> SchemaBuilder {
    untyped().keyword("type", "object")
}

#[rustfmt::skip]
fn fields() -> Fields<TypeItem, ()> {
    let mut f = Fields::<TypeItem, ()>::new(OBJECT);
    let locks = [Value::from("all"), Value::from("insert"), Value::from("contentOnly"), Value::Bool(false)];
    f.add("capabilities", map().describe("Capabilities that guard posts of the type.").context(EDIT).readonly()).get(TypeItem::capabilities);
    f.add("description", string().describe("What the type is for.").context(VIEW_EDIT).readonly()).get(|t| t.kind.description.clone());
    f.add("hierarchical", boolean().describe("Whether posts of the type can stand below one another.").context(VIEW_EDIT).readonly()).get(|t| t.kind.hierarchical);
    f.add("has_archive", types(["string", "boolean"]).describe("Where the type's archive is, or false without one.").context(VIEW_EDIT).readonly()).get(TypeItem::has_archive);
    let seen = f.add("visibility", object([("", Value::Null); 0]).describe("Where editors meet the type.").context(EDIT).readonly());
    seen.subfield("show_in_nav_menus", boolean().describe("Whether its posts can be put into menus.")).get(|t| t.kind.show_in_nav_menus);
    seen.subfield("show_ui", boolean().describe("Whether it is managed in the administration area.")).get(|t| t.kind.show_ui);
    f.add("viewable", boolean().describe("Whether posts of the type have pages of their own.").context(EDIT).readonly()).get(|t| t.kind.is_viewable());
    f.add("labels", map().describe("Texts for people.").context(EDIT).readonly()).get(|t| labels::of_type(&t.kind));
    f.add("name", string().describe("What people call the type.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.kind.label.clone());
    f.add("slug", string().describe("The type's name for programs.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.kind.name.clone());
    f.add("icon", types(["string", "null"]).describe("The type's icon.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.kind.menu_icon.clone());
    f.add("supports", map().describe("Features that posts of the type have.").context(EDIT).readonly()).get(TypeItem::supports);
    f.add("taxonomies", array(string()).describe("Taxonomies of the type's posts.").context(VIEW_EDIT).readonly()).get(TypeItem::taxonomies);
    f.add("rest_base", string().describe("Last part of the type's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.kind.rest_base.clone());
    f.add("rest_namespace", string().describe("Namespace of the type's route.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.site.brand.namespace());
    f.add("template", types(["array"]).describe("Blocks that a new post begins with.").context(VIEW_EDIT_EMBED).readonly()).get(|t| t.kind.template.clone());
    f.add("template_lock", types(["string", "boolean"]).describe("What may not be done to these blocks.").one_of(locks).context(VIEW_EDIT_EMBED).readonly()).get(|t| t.kind.template_lock.clone());
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

    /// The wire form of a type, and its links when they are asked for.
    async fn show(&self, kind: &PostType, req: &Request) -> Result<(svc_routing::Map, Option<Links>)> {
        let view = respond::view(req);
        let item = TypeItem { kind: kind.clone(), site: Arc::clone(&self.site) };
        let mut data = self.fields.plan(&view).prepare(&item);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        if !view.wants_links() {
            return Ok((data, None));
        }
        let urls = &self.site.settings()?.urls;
        let mut links = Links::new();
        links.add("collection", Link::new(urls.rest(&format!("/{}/types", self.site.brand.namespace()))));
        links.add(format!("{LINK_RELATION}items"), Link::new(urls.rest(&self.site.route_of_type(kind))));
        Ok((data, Some(links)))
    }

    /// Whether the caller may write posts of this type.
    fn may_edit(&self, kind: &PostType, caller: &Caller) -> Result<bool> {
        let settings = self.site.settings()?;
        Ok(Access::new(&self.site, &settings).can(caller, &kind.caps.edit_posts))
    }

    /// The types that this request may see, in registration order.
    fn shown(&self, req: &Request) -> Result<Vec<PostType>> {
        let caller = caller(req);
        let mut shown = Vec::new();
        for kind in self.site.types.iter().filter(|t| t.show_in_rest) {
            if req.context() != "edit" || self.may_edit(kind, &caller)? {
                shown.push(kind.clone());
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
        for kind in self.shown(&req)? {
            let (item, links) = self.show(&kind, &req).await?;
            items.push((kind.name, item, links));
        }
        Ok(Response::new(respond::keyed(items, &req)))
    }

    /// Refuses by itself, behind an open permission: so the peer's `Allow` names GET for types that are not shown.
    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let name: String = req.require("type")?;
        let kind = self.site.types.get(&name).ok_or_else(not_found)?;
        if !kind.show_in_rest {
            return Err(cannot_read(&req));
        }
        if req.context() == "edit" && !self.may_edit(kind, &caller(&req))? {
            return Err(forbidden_context(&req));
        }
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let (data, links) = self.show(kind, &req).await?;
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
