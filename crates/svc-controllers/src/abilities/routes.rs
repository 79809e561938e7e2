//! Abilities and their categories: list, fetch, run.
//!
//! The lists require the `read` capability. Each ability has its own permission callback for running it.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_resource::{Fields, Paging, Params};
use svc_routing::{Link, Links, Method, Request, Response, Result, Route, forbidden, on};
use svc_schema::{
    Args, Error, Schema,
    build::{SchemaBuilder, boolean, integer, object, string, types, untyped},
};
use svc_versions::Context;

use crate::{
    RestSite,
    args::context_param,
    caller, collection,
    contexts::{VIEW_EDIT, VIEW_EDIT_EMBED},
    errors,
    links::with_query,
    registries::abilities::{Ability, AbilityCall, AbilityCategory},
    registry_family::{Listed, RegistryEntries, RegistryFamily, entry_links},
};
use svc_site::Site;

/// All JSON types.
const ANYTHING: [&str; 7] = ["integer", "number", "boolean", "string", "array", "object", "null"];

fn not_found() -> Error {
    Error::new("rest_ability_not_found", "There is no such ability.").with_status(404)
}

fn category_not_found() -> Error {
    Error::new("rest_ability_category_not_found", "There is no such category.").with_status(404)
}

fn invalid_method(method: &Method) -> Error {
    Error::new("rest_ability_invalid_method", format!("This ability requires the {method} method.")).with_status(405)
}

fn cannot_execute(req: &Request) -> Error {
    forbidden(req, "rest_ability_cannot_execute", "You are not allowed to run this ability.")
}

/// The JSON of a schema; an empty list, as WordPress returns, if there is none.
fn source(schema: Option<&Schema>) -> Value {
    schema.map_or_else(|| json!([]), |schema| schema.source().clone())
}

/// The schema of an object with any properties.
fn map() -> SchemaBuilder {
    untyped().keyword("type", "object")
}

fn annotations() -> SchemaBuilder {
    let optional_bool = || types(["boolean", "null"]);
    let properties = [
        ("readonly", optional_bool().describe("Whether the ability only reads data.")),
        ("destructive", optional_bool().describe("Whether the ability may delete or overwrite data.")),
        ("idempotent", optional_bool().describe("Whether repeated runs with the same input have no further effect.")),
    ];
    object(properties).describe("Effects of the ability on the site.").additional_properties(true)
}

/// Sanitizes a key to lowercase letters, digits, dashes and underscores.
fn sanitize_key(value: Value, _: &str) -> Result<Value> {
    Ok(svc_text::sanitize_key(&svc_php::cast::to_text(&value)).into())
}

/// Filters of a list of abilities.
struct AbilityFilter {
    category: Option<String>,
    namespace: Option<String>,
    meta: Option<Value>,
}

#[rustfmt::skip]
fn page_params(object: &str) -> Params<()> {
    let mut p = Params::new(object);
    p.add("context", context_param());
    p.add("page", integer().describe("Page number of the list.").default(1).minimum(1)).parsed();
    p.add("per_page", integer().describe("Maximum number of items per page.").default(50).range(1..=100)).parsed();
    p
}

#[rustfmt::skip]
fn params() -> Params<()> {
    let mut p = page_params(AbilityFamily::OBJECT);
    let meta = object([("annotations", annotations())]).additional_properties(true);
    p.add("category", string().describe("Only return abilities in this category.")).sanitize_with(sanitize_key);
    p.add("namespace", string().describe("Only return abilities in this namespace.")).sanitize_with(sanitize_key);
    p.add("meta", meta.describe("Only return abilities whose metadata contains these values."));
    p
}

/// Whether `map` contains all of the values in `expected`; nested objects are compared the same way.
fn contains(map: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(expected) => {
            expected.iter().all(|(name, value)| map.get(name).is_some_and(|found| contains(found, value)))
        }
        expected => map == expected,
    }
}

impl AbilityFilter {
    fn of(req: &Request) -> Result<Self> {
        let key = |name: &str| {
            let key: Option<String> = req.arg(name)?;
            Result::Ok(key.filter(|key| !matches!(key.as_str(), "" | "0")))
        };
        Ok(AbilityFilter { category: key("category")?, namespace: key("namespace")?, meta: req.arg("meta")? })
    }

    fn matches(&self, ability: &Ability) -> bool {
        let namespace = ability.name.split_once('/').map_or("", |(namespace, _)| namespace);
        ability.show_in_rest
            && self.category.as_ref().is_none_or(|c| *c == ability.category)
            && self.namespace.as_ref().is_none_or(|n| n == namespace)
            && self.meta.as_ref().is_none_or(|meta| contains(&ability.annotated_meta(), meta))
    }
}

/// The requested page of a list, with its totals and links to the previous and next pages.
fn page_of<T: Clone>(all: Vec<&T>, site: &Site, url: &str, req: &Request) -> Result<Listed<T>> {
    let (page, per_page): (u64, u64) = (req.require("page")?, req.require("per_page")?);
    let paging = Paging { total: all.len() as u64, per_page, page };
    let response = collection::with_text_totals(site, Response::default(), paging.total, paging.pages());
    let links = paging.links_from_page(url, &req.params().query);
    let entries = paging.items(all.into_iter()).cloned().collect();
    Ok(Listed { entries, response: collection::with_page_links(response, links) })
}

/// Fails unless the caller has the `read` capability.
fn check_read(req: &Request) -> Result<()> {
    if caller(req).has("read") { Ok(()) } else { Err(errors::forbidden(req)) }
}

/// The URL of a path in the namespace of abilities.
fn url(cx: &Context, site: &Site, path: &str) -> Result<String> {
    Ok(site.settings(cx)?.urls.rest(&format!("/{}/{path}", site.brand.side_namespace("abilities"))))
}

/// The categories of abilities.
pub struct AbilityCategoryFamily;

impl RegistryEntries for AbilityCategoryFamily {
    type Entry = AbilityCategory;
    const OBJECT: &'static str = "ability-category";

    #[rustfmt::skip]
    fn fields() -> Fields<AbilityCategory, ()> {
        let mut f = Fields::<AbilityCategory, ()>::new(Self::OBJECT);
        f.add("slug", string().describe("The category's slug.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.slug.clone());
        f.add("label", string().describe("Display name of the category.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.label.clone());
        f.add("description", string().describe("Description of the category.").context(VIEW_EDIT).readonly()).get(|c| c.description.clone());
        f.add("meta", map().describe("Additional metadata.").context(VIEW_EDIT).readonly()).get(|c| svc_php::list::list_shape(Value::Object(c.meta.clone())));
        f
    }

    fn check_list(_: &Arc<RestSite>, req: &Request) -> Result<()> {
        check_read(req)
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<AbilityCategory>> {
        page_of(
            rest.abilities.categories.values().collect(),
            &rest.site,
            &url(req.cx(), &rest.site, "categories")?,
            req,
        )
    }

    fn links(rest: &Arc<RestSite>, category: &AbilityCategory, req: &Request) -> Result<Links> {
        let own = url(req.cx(), &rest.site, &format!("categories/{}", category.slug))?;
        let mut links = entry_links(own, url(req.cx(), &rest.site, "categories")?);
        let abilities = with_query(&url(req.cx(), &rest.site, "abilities")?, "category", &category.slug);
        links.add("abilities", Link::new(abilities));
        Ok(links)
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<AbilityCategory> {
        let slug: String = req.require("slug")?;
        rest.abilities.categories.get(&slug).cloned().ok_or_else(category_not_found)
    }

    #[rustfmt::skip]
    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let slug = Args::from([("slug", string().describe("The category's slug.").pattern(r"^[a-z0-9]+(?:-[a-z0-9]+)*$"))]);
        vec![
            family.list_route("/categories", page_params(Self::OBJECT).query_args()),
            family.fetch_route(r"/categories/(?P<slug>[a-z0-9]+(?:-[a-z0-9]+)*)", Args::new()).args(slug),
        ]
    }
}

/// The abilities.
pub struct AbilityFamily;

/// The requested ability.
fn requested<'a>(rest: &'a RestSite, req: &Request) -> Result<&'a Ability> {
    rest.abilities.served(&req.require::<String>("name")?).ok_or_else(not_found)
}

impl RegistryEntries for AbilityFamily {
    type Entry = Ability;
    const OBJECT: &'static str = "ability";

    #[rustfmt::skip]
    fn fields() -> Fields<Ability, ()> {
        let mut f = Fields::<Ability, ()>::new(Self::OBJECT);
        let meta = object([("annotations", annotations()), ("public", boolean().describe("Whether the ability is suitable for any kind of client."))]);
        f.add("name", string().describe("Name of the ability, with its namespace.").context(VIEW_EDIT_EMBED).readonly()).get(|a| a.name.clone());
        f.add("label", string().describe("Display name of the ability.").context(VIEW_EDIT_EMBED).readonly()).get(|a| a.label.clone());
        f.add("description", string().describe("Description of the ability.").context(VIEW_EDIT).readonly()).get(|a| a.description.clone());
        f.add("category", string().describe("Slug of the ability's category.").context(VIEW_EDIT_EMBED).readonly()).get(|a| a.category.clone());
        f.add("input_schema", map().describe("JSON Schema of the input.").context(VIEW_EDIT).readonly()).get(|a| source(a.input.as_ref()));
        f.add("output_schema", map().describe("JSON Schema of the output.").context(VIEW_EDIT).readonly()).get(|a| source(a.output.as_ref()));
        f.add("meta", meta.describe("Additional metadata.").context(VIEW_EDIT).readonly()).get(Ability::annotated_meta);
        f
    }

    fn check_list(_: &Arc<RestSite>, req: &Request) -> Result<()> {
        check_read(req)
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<Ability>> {
        let filter = AbilityFilter::of(req)?;
        let all = rest.abilities.abilities.values().filter(|ability| filter.matches(ability)).collect();
        page_of(all, &rest.site, &url(req.cx(), &rest.site, "abilities")?, req)
    }

    fn links(rest: &Arc<RestSite>, ability: &Ability, req: &Request) -> Result<Links> {
        let own = url(req.cx(), &rest.site, &format!("abilities/{}", ability.name))?;
        let run = url(req.cx(), &rest.site, &format!("abilities/{}/run", ability.name))?;
        let mut links = entry_links(own, url(req.cx(), &rest.site, "abilities")?);
        links.add(format!("{}:action-run", rest.site.brand.curie()), Link::new(run));
        Ok(links)
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<Ability> {
        requested(rest, req).cloned()
    }

    #[rustfmt::skip]
    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        type Family = RegistryFamily<AbilityFamily>;
        let result = types(ANYTHING).describe("Output of the ability.").context(VIEW_EDIT).readonly();
        let mut output = Fields::<(), ()>::new("ability-execution");
        output.add("result", result);
        let name = || Args::from([("name", string().describe("Name of the ability, with its namespace.").pattern(r"^[a-zA-Z0-9\-\/]+$"))]);
        let input = types(ANYTHING).describe("Input of the ability.").default(Value::Null);
        let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        vec![
            Route::new(r"/abilities/(?P<name>[a-zA-Z0-9\-\/]+?)/run")
                .schema(Schema::compile(output.item_schema()))
                .args(name())
                .endpoint(on(methods, Family::run, Family::can_run).args(Args::from([("input", input)]))),
            family.list_route("/abilities", params().query_args()),
            family.fetch_route(r"/abilities/(?P<name>[a-zA-Z0-9\-\/]+)", Args::new()).args(name()),
        ]
    }
}

impl RegistryFamily<AbilityFamily> {
    /// Checks the method, the input and the permission callback, in this order.
    async fn can_run(self: Arc<Self>, req: Request) -> Result<(Ability, AbilityCall)> {
        let ability = requested(&self.rest, &req)?;
        let method = ability.method();
        if *req.method() != method {
            return Err(invalid_method(&method));
        }
        // Only `POST` reads the input from the body; the other methods use the query.
        let input = if method == Method::POST {
            req.json().and_then(|body| body.get("input"))
        } else {
            req.params().query.get("input")
        };
        let input = ability.parse_input(input.cloned().unwrap_or_default())?;
        let call = AbilityCall { site: Arc::clone(&self.rest.site), caller: caller(&req), input, request: req };
        if !(ability.permission)(&call) {
            return Err(cannot_execute(&call.request));
        }
        Ok((ability.clone(), call))
    }

    async fn run(self: Arc<Self>, _: Request, (ability, call): (Ability, AbilityCall)) -> Result<Response> {
        Ok(Response::new(ability.run(call).await?))
    }
}
