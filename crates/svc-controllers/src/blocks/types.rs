//! Types of blocks: list, list of a namespace, fetch. For those who may write posts of some type.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_blocks::variations;
use svc_content::blocks::BlockType;
use svc_resource::{Fields, View};
use svc_routing::{Controller, ExtraFields, Link, Links, Request, Response, Result, Route, forbidden, get};
use svc_schema::{
    Arg, Args, Error, Schema,
    build::{SchemaBuilder, array, boolean, integer, string, types, untyped},
};
use svc_site::{Access, Settings};

use crate::{LINK_RELATION, RestSite, caller, contexts::EMBED_VIEW_EDIT, respond};

/// The object type that additional fields name.
const OBJECT: &str = "block-type";

/// What the name of a block type looks like.
const NAME: &str = "^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$";

/// The caller writes no posts.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_block_type_cannot_view", "You are not allowed to see block types.")
}

/// No such type.
fn not_found() -> Error {
    Error::new("rest_block_type_invalid", "There is no such block type.").with_status(404)
}

fn list(items: &[String]) -> Value {
    items.iter().map(|item| Value::from(item.as_str())).collect()
}

fn list_or_null(items: &Option<Vec<String>>) -> Value {
    items.as_deref().map_or(Value::Null, list)
}

/// A map, which is a list while it is empty.
fn map(members: &Map<String, Value>) -> Value {
    svc_php::list::list_shape(Value::Object(members.clone()))
}

/// The one name of a script or style that older clients know.
fn first(names: &[String]) -> Option<String> {
    names.first().cloned()
}

/// A member that everybody who sees the type sees.
fn shown(schema: SchemaBuilder, description: &str) -> SchemaBuilder {
    schema.describe(description).context(EMBED_VIEW_EDIT).readonly()
}

fn or_null(name: &str) -> SchemaBuilder {
    types([name, "null"])
}

fn names() -> SchemaBuilder {
    types(["array"]).keyword("items", string()).default(json!([]))
}

fn blocks() -> SchemaBuilder {
    or_null("array").keyword("items", string().pattern(NAME)).default(Value::Null)
}

fn open_map() -> SchemaBuilder {
    untyped().keyword("type", "object").keyword("default", json!([])).keyword("properties", json!([]))
}

fn category() -> SchemaBuilder {
    shown(or_null("string"), "Heading under which editors offer it.").default(Value::Null)
}

fn icon() -> SchemaBuilder {
    shown(or_null("string"), "Name of its icon.").default(Value::Null)
}

fn keywords() -> SchemaBuilder {
    shown(array(string()), "Words that find it.").default(json!([]))
}

/// Blocks inside an example or a variation.
fn inner_blocks() -> SchemaBuilder {
    let members = [
        ("name", string().describe("Name of the block's type.").pattern(NAME).required()),
        ("attributes", untyped().keyword("type", "object").describe("The block's attributes.")),
        ("innerBlocks", untyped().keyword("type", "array").describe("Blocks inside it.")),
    ];
    array(svc_schema::build::object(members)).describe("Blocks inside.")
}

fn example() -> SchemaBuilder {
    let attributes = untyped().keyword("type", "object").describe("The example's attributes.");
    let members: Map<String, Value> = [("attributes", attributes), ("innerBlocks", inner_blocks())]
        .map(|(n, s)| (n.to_owned(), s.into()))
        .into_iter()
        .collect();
    shown(or_null("object"), "A block to show in previews.").default(Value::Null).keyword("properties", members)
}

fn styles() -> SchemaBuilder {
    let members = [
        ("name", string().describe("Name of the style.").required()),
        ("label", string().describe("What people call the style.")),
        ("inline_style", string().describe("The style's own CSS.")),
        ("style_handle", string().describe("Name of the style sheet with the style.")),
    ];
    shown(array(svc_schema::build::object(members)), "Styles to choose from.").default(json!([]))
}

fn variations() -> SchemaBuilder {
    let scopes = string().one_of(["block", "inserter", "transform"]);
    let scope = or_null("array").keyword("items", scopes).default(Value::Null).readonly();
    let optional = |schema: SchemaBuilder| schema.keyword("required", false);
    let members = [
        ("name", string().describe("Name of the form.").required()),
        ("title", string().describe("What people call the form.").required()),
        ("description", optional(string().describe("What the form is for."))),
        ("category", category()),
        ("icon", icon()),
        ("isDefault", optional(boolean().describe("Whether the form is the usual one.").default(false))),
        ("attributes", untyped().keyword("type", "object").describe("The form's attributes.")),
        ("innerBlocks", inner_blocks()),
        ("example", example()),
        ("scope", scope.describe("Where the form is offered.")),
        ("keywords", keywords()),
    ];
    shown(array(svc_schema::build::object(members)), "Ready-made forms.").default(Value::Null)
}

#[rustfmt::skip]
fn fields() -> Fields<BlockType, ()> {
    let mut f = Fields::<BlockType, ()>::new(OBJECT);
    let schemas = untyped().keyword("type", "object");
    let hooks = untyped().keyword("type", "object").default(json!([])).keyword("patternProperties", json!({
        NAME: {"type": "string", "enum": ["before", "after", "first_child", "last_child"]},
    }));
    let context = open_map().keyword("additionalProperties", string());
    let attributes = or_null("object").default(Value::Null).keyword("properties", json!([])).keyword("additionalProperties", schemas);
    f.add("api_version", shown(integer(), "Version of the interface that its code is written for.").default(1)).get(|t| t.api_version);
    f.add("title", shown(string(), "What people call it.").default("")).get(|t| t.title.clone());
    f.add("name", shown(string(), "Its name, with its namespace.").pattern(NAME).required()).get(|t| t.name.clone());
    f.add("description", shown(string(), "What it is for.").default("")).get(|t| t.description.clone());
    f.add("icon", icon()).get(|t| t.icon.clone());
    f.add("attributes", shown(attributes, "Its attributes, each with its schema.")).get(|t| map(&t.attributes));
    f.add("provides_context", shown(context, "Names under which blocks inside see its attributes.")).get(|t| map(&t.provides_context.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect()));
    f.add("uses_context", shown(array(string()), "What it asks the blocks around it.").default(json!([]))).get(|t| list(&t.uses_context));
    f.add("selectors", shown(open_map(), "CSS selectors of its parts.")).get(|t| map(&t.selectors));
    f.add("supports", shown(open_map(), "Features that can be used on it.")).get(|t| map(&t.supports));
    f.add("category", category()).get(|t| t.category.clone());
    f.add("is_dynamic", shown(boolean(), "Whether its HTML is made when a page is.").default(false)).get(|t| t.dynamic);
    f.add("editor_script_handles", shown(names(), "Names of its scripts for the editor.")).get(|t| list(&t.assets.editor_script));
    f.add("script_handles", shown(names(), "Names of its scripts for editor and pages.")).get(|t| list(&t.assets.script));
    f.add("view_script_handles", shown(names(), "Names of its scripts for pages.")).get(|t| list(&t.assets.view_script));
    f.add("view_script_module_ids", shown(names(), "Names of its script modules for pages.")).get(|t| list(&t.assets.view_script_module));
    f.add("editor_style_handles", shown(names(), "Names of its styles for the editor.")).get(|t| list(&t.assets.editor_style));
    f.add("style_handles", shown(names(), "Names of its styles for editor and pages.")).get(|t| list(&t.assets.style));
    f.add("view_style_handles", shown(names(), "Names of its styles for pages.")).get(|t| list(&t.assets.view_style));
    f.add("styles", styles()).get(|t| t.styles.clone());
    f.add("variations", variations()).get(|t| t.variations.clone());
    f.add("textdomain", shown(or_null("string"), "Domain of its translations.").default(Value::Null)).get(|t| t.textdomain.clone());
    f.add("parent", shown(blocks(), "Blocks that it may stand in directly.")).get(|t| list_or_null(&t.parent));
    f.add("ancestor", shown(blocks(), "Blocks that it may stand in.")).get(|t| list_or_null(&t.ancestor));
    f.add("allowed_blocks", shown(blocks(), "Blocks that may stand in it directly.")).get(|t| list_or_null(&t.allowed_blocks));
    f.add("keywords", keywords()).get(|t| list(&t.keywords));
    f.add("example", example()).get(|t| t.example.clone());
    f.add("block_hooks", shown(hooks, "Blocks beside which it wants to stand, and where.")).get(|t| map(&t.block_hooks));
    for (name, description, read) in OLDER {
        f.add(name, shown(or_null("string"), description).default(Value::Null)).get(move |t| first(read(&t.assets)));
    }
    f
}

type ReadNames = fn(&svc_content::blocks::types::Assets) -> &[String];

/// Members that hold one name, for clients from before there could be several.
#[rustfmt::skip]
const OLDER: [(&str, &str, ReadNames); 5] = [
    ("editor_script", "Name of its first script for the editor.", |a| &a.editor_script),
    ("script", "Name of its first script for editor and pages.", |a| &a.script),
    ("view_script", "Name of its first script for pages.", |a| &a.view_script),
    ("editor_style", "Name of its first style for the editor.", |a| &a.editor_style),
    ("style", "Name of its first style for editor and pages.", |a| &a.style),
];

/// The wire form of a type, without links.
pub fn show(block_type: &BlockType, context: &str) -> Map<String, Value> {
    fields().plan(&View::all_of(context)).prepare(block_type)
}

/// The family of block types.
pub struct Types {
    site: Arc<RestSite>,
    fields: Fields<BlockType, ()>,
    extra: ExtraFields,
}

impl Types {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        Types { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    /// The wire form of a type, and its links when they are asked for.
    async fn show(
        &self,
        block_type: &BlockType,
        settings: &Settings,
        req: &Request,
    ) -> Result<(svc_routing::Map, Option<Links>)> {
        let view = respond::view(req);
        let variations = match block_type.name.as_str() {
            "core/navigation-link" => variations::navigation_link_variations(&self.site.types, &self.site.taxonomies),
            "core/post-terms" => variations::post_terms_variations(&self.site.taxonomies),
            "core/template-part" => variations::template_part_variations(&[]),
            _ => block_type.variations.clone(),
        };
        let mut data = self.fields.plan(&view).prepare(&BlockType { variations, ..block_type.clone() });
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        let links = view.wants_links().then(|| self.links(block_type, settings));
        Ok((data, links))
    }

    fn links(&self, block_type: &BlockType, settings: &Settings) -> Links {
        let namespace = self.site.brand.namespace();
        let rest = |path: &str| Link::new(settings.urls.rest(&format!("/{namespace}/{path}")));
        let name = &block_type.name;
        let mut links = Links::new();
        links.add("collection", rest("block-types"));
        links.add("self", rest(&format!("block-types/{name}")).allow(["GET"]));
        links.add("up", rest(&format!("block-types/{}", block_type.namespace())));
        if block_type.dynamic {
            let renderer = settings.urls.rest(&format!("/{namespace}/block-renderer/{name}"));
            links.add(
                format!("{LINK_RELATION}render-block"),
                Link::new(crate::links::with_query(&renderer, "context", "edit")),
            );
        }
        links
    }

    /// Whether the caller may write posts of some type.
    fn is_writer(&self, req: &Request) -> Result<bool> {
        let (settings, caller) = (self.site.settings()?, caller(req));
        let access = Access::new(&self.site, &settings);
        let types = self.site.types.iter().filter(|t| t.show_in_rest || t.name == "post");
        Ok(types.into_iter().any(|t| access.can(&caller, &t.caps.edit_posts)))
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        if self.is_writer(&req)? { Ok(()) } else { Err(cannot_view(&req)) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let namespace: Option<String> = req.arg("namespace")?;
        let settings = self.site.settings()?;
        let types = self.site.block_types(&settings);
        let mut items = Vec::new();
        for block_type in types.iter().filter(|t| namespace.as_ref().is_none_or(|n| n == t.namespace())) {
            let (item, links) = self.show(block_type, &settings, &req).await?;
            items.push(respond::with_links(item, links, &req));
        }
        Ok(Response::new(Value::Array(items)))
    }

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Arc<BlockType>> {
        self.clone().can_list(req.clone()).await?;
        let (namespace, name): (String, String) = (req.require("namespace")?, req.require("name")?);
        let types = self.site.block_types(&*self.site.settings()?);
        types.get(&format!("{namespace}/{name}")).cloned().ok_or_else(not_found)
    }

    async fn fetch(self: Arc<Self>, req: Request, block_type: Arc<BlockType>) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let (data, links) = self.show(&block_type, &*self.site.settings()?, &req).await?;
        Ok(respond::single(data, links))
    }
}

impl Controller for Types {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let context = || {
            let contexts = string().describe("Which members are shown.").one_of(["view", "embed", "edit"]);
            ("context", Arg::by_schema(contexts.default("view")))
        };
        let namespace = || ("namespace", Arg::from(string().describe("Namespace of the block type.")));
        let name = || ("name", Arg::from(string().describe("Name of the block type within its namespace.")));
        let list = || get(Self::list, Self::can_list);
        vec![
            Route::new("/block-types")
                .schema(schema.clone())
                .endpoint(list().args(Args::from([context(), namespace()]))),
            Route::new(r"/block-types/(?P<namespace>[a-zA-Z0-9_-]+)")
                .schema(schema.clone())
                .endpoint(list().args(Args::from([context(), namespace()]))),
            Route::new(r"/block-types/(?P<namespace>[a-zA-Z0-9_-]+)/(?P<name>[a-zA-Z0-9_-]+)")
                .schema(schema)
                .args(Args::from([name(), namespace()]))
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([context()]))),
        ]
    }
}
