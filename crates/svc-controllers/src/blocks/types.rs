//! Block types: list, list by namespace, fetch. Requires permission to edit posts of any type.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_blocks::variations;
use svc_content::blocks::BlockType;
use svc_resource::{Fields, View};
use svc_routing::{Link, Links, Request, Result, Route, forbidden};
use svc_schema::{
    Arg, Args, Error,
    build::{SchemaBuilder, array, boolean, integer, string, types, untyped},
};
use svc_site::{Access, Site};

use crate::{
    LINK_RELATION, RestSite, caller,
    contexts::EMBED_VIEW_EDIT,
    links::with_query,
    registry_family::{Listed, RegistryEntries, RegistryFamily, route_url},
};

/// Object type of additional fields.
const OBJECT: &str = "block-type";

/// Pattern of block type names.
const NAME: &str = "^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$";

/// The caller may not edit posts of any type.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_block_type_cannot_view", "You are not allowed to view block types.")
}

/// The block type does not exist.
fn not_found() -> Error {
    Error::new("rest_block_type_invalid", "The block type does not exist.").with_status(404)
}

fn list(items: &[String]) -> Value {
    items.iter().map(|item| Value::from(item.as_str())).collect()
}

fn list_or_null(items: &Option<Vec<String>>) -> Value {
    items.as_deref().map_or(Value::Null, list)
}

/// An object, or an empty array if it has no properties.
fn map(properties: &Map<String, Value>) -> Value {
    svc_php::list::list_shape(Value::Object(properties.clone()))
}

/// The first handle, for the fields of older clients.
fn first_handle(names: &[String]) -> Option<String> {
    names.first().cloned()
}

/// A read-only property in all contexts.
fn read_only(schema: SchemaBuilder, description: &str) -> SchemaBuilder {
    schema.describe(description).context(EMBED_VIEW_EDIT).readonly()
}

fn nullable(name: &str) -> SchemaBuilder {
    types([name, "null"])
}

fn names() -> SchemaBuilder {
    types(["array"]).default(json!([])).keyword("items", string())
}

fn blocks() -> SchemaBuilder {
    nullable("array").keyword("items", string().pattern(NAME)).default(Value::Null)
}

fn open_map() -> SchemaBuilder {
    untyped().keyword("type", "object").keyword("default", json!([])).keyword("properties", json!([]))
}

fn category() -> SchemaBuilder {
    read_only(nullable("string").default(Value::Null), "Category in the editor's inserter.")
}

fn icon() -> SchemaBuilder {
    read_only(nullable("string").default(Value::Null), "Icon name.")
}

fn keywords() -> SchemaBuilder {
    read_only(array(string()).default(json!([])), "Search keywords.")
}

/// Inner blocks of an example or a variation.
fn inner_blocks() -> SchemaBuilder {
    let properties = [
        ("name", string().describe("Name of the block type.").pattern(NAME).required()),
        ("attributes", untyped().keyword("type", "object").describe("The block's attributes.")),
        ("innerBlocks", untyped().keyword("type", "array").describe("The block's inner blocks.")),
    ];
    array(svc_schema::build::object(properties)).describe("Inner blocks.")
}

fn example() -> SchemaBuilder {
    let attributes = untyped().keyword("type", "object").describe("The example's attributes.");
    let properties: Map<String, Value> = [("attributes", attributes), ("innerBlocks", inner_blocks())]
        .map(|(n, s)| (n.to_owned(), s.into()))
        .into_iter()
        .collect();
    read_only(nullable("object").default(Value::Null).keyword("properties", properties), "Example for previews.")
}

fn styles() -> SchemaBuilder {
    let properties = [
        ("name", string().describe("Name of the style.").required()),
        ("label", string().describe("Display name of the style.")),
        ("inline_style", string().describe("Inline CSS of the style.")),
        ("style_handle", string().describe("Handle of the stylesheet that contains the style.")),
    ];
    read_only(array(svc_schema::build::object(properties)).default(json!([])), "Block styles.")
}

fn variations() -> SchemaBuilder {
    let scopes = string().one_of(["block", "inserter", "transform"]);
    let scope = nullable("array").default(Value::Null).keyword("items", scopes).readonly();
    let optional = |schema: SchemaBuilder| schema.keyword("required", false);
    let properties = [
        ("name", string().describe("Name of the variation.").required()),
        ("title", string().describe("Display name of the variation.").required()),
        ("description", optional(string().describe("Description of the variation."))),
        ("category", category()),
        ("icon", icon()),
        ("isDefault", optional(boolean().describe("Whether this is the default variation.")).default(false)),
        ("attributes", untyped().keyword("type", "object").describe("Initial attributes of the variation.")),
        ("innerBlocks", inner_blocks()),
        ("example", example()),
        ("scope", scope.describe("Where editors offer the variation.")),
        ("keywords", keywords()),
    ];
    let variation = svc_schema::build::object(properties);
    array(variation).describe("Block variations.").readonly().context(EMBED_VIEW_EDIT).default(Value::Null)
}

#[rustfmt::skip]
fn fields() -> Fields<BlockType, ()> {
    let mut f = Fields::<BlockType, ()>::new(OBJECT);
    let schemas = untyped().keyword("type", "object");
    let hooks = untyped().keyword("type", "object").keyword("patternProperties", json!({
        NAME: {"type": "string", "enum": ["before", "after", "first_child", "last_child"]},
    })).default(json!([]));
    let context = open_map().keyword("additionalProperties", string()).last(&["default"]);
    let attributes = nullable("object").keyword("properties", json!([])).default(Value::Null).keyword("additionalProperties", schemas);
    f.add("attributes", read_only(attributes, "Schemas of the block's attributes.")).get(|t| map(&t.attributes));
    f.add("is_dynamic", read_only(boolean().default(false), "Whether the server renders the block.")).get(|t| t.dynamic);
    f.add("api_version", read_only(integer().default(1), "Version of the block API.")).get(|t| t.api_version);
    f.add("name", read_only(string().pattern(NAME).required(), "Name of the block type, with its namespace.")).get(|t| t.name.clone());
    f.add("title", read_only(string().default(""), "Display name of the block type.")).get(|t| t.title.clone());
    f.add("description", read_only(string().default(""), "Description of the block type.")).get(|t| t.description.clone());
    f.add("icon", icon()).get(|t| t.icon.clone());
    f.add("category", category()).get(|t| t.category.clone());
    f.add("keywords", keywords()).get(|t| list(&t.keywords));
    f.add("parent", read_only(blocks(), "Block types that are allowed as parent.")).get(|t| list_or_null(&t.parent));
    f.add("ancestor", read_only(blocks(), "Block types of which one must be an ancestor.")).get(|t| list_or_null(&t.ancestor));
    f.add("allowed_blocks", read_only(blocks(), "Block types that are allowed as direct children.")).get(|t| list_or_null(&t.allowed_blocks));
    f.add("provides_context", read_only(context, "Context for descendants: context names and the attributes that provide them.")).get(|t| map(&t.provides_context.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect()));
    f.add("uses_context", read_only(array(string()).default(json!([])).last(&["items"]), "Names of context values that the block inherits from its ancestors.")).get(|t| list(&t.uses_context));
    f.add("selectors", read_only(open_map(), "Custom CSS selectors for the block's styles.")).get(|t| map(&t.selectors));
    f.add("supports", read_only(open_map(), "Editor features that the block supports.")).get(|t| map(&t.supports));
    f.add("styles", styles()).get(|t| t.styles.clone());
    f.add("textdomain", read_only(nullable("string").default(Value::Null), "Text domain of the translations.")).get(|t| t.textdomain.clone());
    f.add("example", example()).get(|t| t.example.clone());
    f.add("editor_script_handles", read_only(names(), "Handles of the scripts for the editor.")).get(|t| list(&t.assets.editor_script));
    f.add("script_handles", read_only(names(), "Handles of the scripts for the editor and the front end.")).get(|t| list(&t.assets.script));
    f.add("view_script_handles", read_only(names(), "Handles of the scripts for the front end.")).get(|t| list(&t.assets.view_script));
    f.add("view_script_module_ids", read_only(names(), "IDs of the script modules for the front end.")).get(|t| list(&t.assets.view_script_module));
    f.add("editor_style_handles", read_only(names(), "Handles of the stylesheets for the editor.")).get(|t| list(&t.assets.editor_style));
    f.add("style_handles", read_only(names(), "Handles of the stylesheets for the editor and the front end.")).get(|t| list(&t.assets.style));
    f.add("view_style_handles", read_only(names(), "Handles of the stylesheets for the front end.")).get(|t| list(&t.assets.view_style));
    f.add("variations", variations()).get(|t| t.variations.clone());
    f.add("block_hooks", read_only(hooks, "Block types to which this block is hooked, with its position.")).get(|t| map(&t.block_hooks));
    for (name, description, read) in LEGACY_FIELDS {
        f.add(name, read_only(nullable("string").default(Value::Null), description)).get(move |t| first_handle(read(&t.assets)));
    }
    f.schema_order(&[
        "api_version", "title", "name", "description", "icon", "attributes", "provides_context", "uses_context", "selectors",
        "supports", "category", "is_dynamic", "editor_script_handles", "script_handles", "view_script_handles",
        "view_script_module_ids", "editor_style_handles", "style_handles", "view_style_handles", "styles", "variations",
        "textdomain", "parent", "ancestor", "allowed_blocks", "keywords", "example", "block_hooks",
    ]);
    f
}

type ReadNames = fn(&svc_content::blocks::types::Assets) -> &[String];

/// Fields with a single handle, for older clients.
#[rustfmt::skip]
const LEGACY_FIELDS: [(&str, &str, ReadNames); 5] = [
    ("editor_script", "Handle of the first script for the editor.", |a| &a.editor_script),
    ("script", "Handle of the first script for the editor and the front end.", |a| &a.script),
    ("view_script", "Handle of the first script for the front end.", |a| &a.view_script),
    ("editor_style", "Handle of the first stylesheet for the editor.", |a| &a.editor_style),
    ("style", "Handle of the first stylesheet for the editor and the front end.", |a| &a.style),
];

/// The response fields of a block type, without links.
pub fn show(block_type: &BlockType, context: &str) -> Map<String, Value> {
    fields().plan(&View::all_of(context)).prepare(block_type)
}

/// The block types of the site.
pub struct Types;

/// A block type with the variations that depend on the site.
fn item(site: &Arc<Site>, block_type: &BlockType) -> BlockType {
    let variations = match block_type.name.as_str() {
        "core/navigation-link" => {
            variations::navigation_link_variations(&site.registries.types, &site.registries.taxonomies)
        }
        "core/post-terms" => variations::post_terms_variations(&site.registries.taxonomies),
        "core/template-part" => variations::template_part_variations(&[]),
        _ => block_type.variations.clone(),
    };
    BlockType { variations, ..block_type.clone() }
}

/// Whether the caller may edit posts of any type.
fn is_writer(site: &Arc<Site>, req: &Request) -> Result<bool> {
    let (settings, caller) = (site.settings(req.cx())?, caller(req));
    let access = Access::new(site, &settings);
    let types = site.registries.types.iter().filter(|t| t.show_in_rest || t.name == "post");
    Ok(types.into_iter().any(|t| access.can(&caller, &t.caps.edit_posts)))
}

impl RegistryEntries for Types {
    type Entry = BlockType;
    const OBJECT: &'static str = OBJECT;

    fn fields() -> Fields<BlockType, ()> {
        fields()
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        if is_writer(&rest.site, req)? { Ok(()) } else { Err(cannot_view(req)) }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<BlockType>> {
        let namespace = req.arg::<String>("namespace")?.filter(|name| !matches!(name.as_str(), "" | "0"));
        let types = rest.site.block_types(&*rest.site.settings(req.cx())?);
        let requested = types.iter().filter(|t| namespace.as_ref().is_none_or(|n| n == t.namespace()));
        Ok(requested.map(|t| item(&rest.site, t)).collect::<Vec<_>>().into())
    }

    fn links(rest: &Arc<RestSite>, block_type: &BlockType, req: &Request) -> Result<Links> {
        let url = |path: &str| route_url(req.cx(), &rest.site, path);
        let name = &block_type.name;
        let mut links = Links::new();
        links.add("collection", Link::new(url("block-types")?));
        links.add("self", Link::new(url(&format!("block-types/{name}"))?).allow(["GET"]));
        links.add("up", Link::new(url(&format!("block-types/{}", block_type.namespace()))?));
        if block_type.dynamic {
            let renderer = with_query(&url(&format!("block-renderer/{name}"))?, "context", "edit");
            links.add(format!("{LINK_RELATION}render-block"), Link::new(renderer));
        }
        Ok(links)
    }

    fn check_fetch(rest: &Arc<RestSite>, req: &Request) -> Result<Option<BlockType>> {
        Self::check_list(rest, req)?;
        let (namespace, name): (String, String) = (req.require("namespace")?, req.require("name")?);
        let types = rest.site.block_types(&*rest.site.settings(req.cx())?);
        let found = types.get(&format!("{namespace}/{name}")).ok_or_else(not_found)?;
        Ok(Some(item(&rest.site, found)))
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let context = || {
            let contexts = string()
                .describe("Context of the request. It selects the fields in the response.")
                .one_of(["view", "embed", "edit"]);
            ("context", Arg::by_schema(contexts.default("view")))
        };
        let namespace = || ("namespace", Arg::from(string().describe("Namespace of the block type.")));
        let name = ("name", Arg::from(string().describe("Name of the block type within its namespace.")));
        let list = || Args::from([context(), namespace()]);
        vec![
            family.list_route("/block-types", list()),
            family.list_route(r"/block-types/(?P<namespace>[a-zA-Z0-9_-]+)", list()),
            family
                .fetch_route(
                    r"/block-types/(?P<namespace>[a-zA-Z0-9_-]+)/(?P<name>[a-zA-Z0-9_-]+)",
                    Args::from([context()]),
                )
                .args(Args::from([name, namespace()])),
        ]
    }
}
