//! Abilities and their categories: list, fetch, run.
//!
//! The lists require the `read` capability. Each ability has its own permission callback for running it.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_resource::{Fields, Paging, Params, total_headers};
use svc_routing::{
    Controller, ExtraFields, Link, Links, Map, Method, Request, Response, Result, Route, forbidden, get, on,
};
use svc_schema::{
    Args, Error, Schema,
    build::{SchemaBuilder, boolean, integer, object, string, types, untyped},
};
use svc_site::Settings;

use super::{Ability, AbilityCall, AbilityCategory};
use crate::{
    RestSite,
    args::context_param,
    caller,
    contexts::{VIEW_EDIT, VIEW_EDIT_EMBED},
    errors,
    links::with_query,
    respond,
};

/// The object types that additional fields name.
const ABILITY: &str = "ability";
const CATEGORY: &str = "ability-category";

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

#[rustfmt::skip]
fn ability_fields() -> Fields<Ability, ()> {
    let mut f = Fields::<Ability, ()>::new(ABILITY);
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

#[rustfmt::skip]
fn category_fields() -> Fields<AbilityCategory, ()> {
    let mut f = Fields::<AbilityCategory, ()>::new(CATEGORY);
    f.add("slug", string().describe("The category's slug.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.slug.clone());
    f.add("label", string().describe("Display name of the category.").context(VIEW_EDIT_EMBED).readonly()).get(|c| c.label.clone());
    f.add("description", string().describe("Description of the category.").context(VIEW_EDIT).readonly()).get(|c| c.description.clone());
    f.add("meta", map().describe("Additional metadata.").context(VIEW_EDIT).readonly()).get(|c| svc_php::list::list_shape(Value::Object(c.meta.clone())));
    f
}

/// Sanitizes a key to lowercase letters, digits, dashes and underscores.
fn sanitize_key(value: Value, _: &str) -> Result<Value> {
    Ok(svc_text::sanitize_key(&svc_php::cast::to_text(&value)).into())
}

/// Filters and paging of a list of abilities or categories.
#[derive(Clone, Debug, Default)]
struct AbilityQuery {
    page: u64,
    per_page: u64,
    category: Option<String>,
    namespace: Option<String>,
    meta: Option<Value>,
}

#[rustfmt::skip]
fn paging(p: &mut Params<AbilityQuery>) {
    p.add("context", context_param());
    p.add("page", integer().describe("Page number of the list.").default(1).minimum(1)).parsed().set(|q, n| q.page = n);
    p.add("per_page", integer().describe("Maximum number of items per page.").default(50).range(1..=100)).parsed().set(|q, n| q.per_page = n);
}

#[rustfmt::skip]
fn params() -> Params<AbilityQuery> {
    let mut p = Params::<AbilityQuery>::new(ABILITY);
    paging(&mut p);
    let meta = object([("annotations", annotations())]).additional_properties(true);
    p.add("category", string().describe("Only return abilities in this category.")).sanitize_with(sanitize_key)
        .set(|q, v: String| q.category = Some(v).filter(|v| !matches!(v.as_str(), "" | "0")));
    p.add("namespace", string().describe("Only return abilities in this namespace.")).sanitize_with(sanitize_key)
        .set(|q, v: String| q.namespace = Some(v).filter(|v| !matches!(v.as_str(), "" | "0")));
    p.add("meta", meta.describe("Only return abilities whose metadata contains these values.")).set(|q, v| q.meta = Some(v));
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

impl AbilityQuery {
    fn matches(&self, ability: &Ability) -> bool {
        let namespace = ability.name.split_once('/').map_or("", |(namespace, _)| namespace);
        ability.show_in_rest
            && self.category.as_ref().is_none_or(|c| *c == ability.category)
            && self.namespace.as_ref().is_none_or(|n| n == namespace)
            && self.meta.as_ref().is_none_or(|meta| contains(&ability.annotated_meta(), meta))
    }

    /// The items of the requested page, and the paging data.
    fn page_of<'a, T>(&self, all: impl Iterator<Item = &'a T>) -> (Vec<&'a T>, Paging) {
        let all: Vec<&T> = all.collect();
        let paging = Paging { total: all.len() as u64, per_page: self.per_page, page: self.page };
        let skipped = usize::try_from(self.page.saturating_sub(1).saturating_mul(self.per_page)).unwrap_or(usize::MAX);
        let taken = usize::try_from(self.per_page).unwrap_or(usize::MAX);
        (all.into_iter().skip(skipped).take(taken).collect(), paging)
    }
}

/// The controller for abilities and their categories.
pub struct AbilityRoutes {
    site: Arc<RestSite>,
    abilities: Fields<Ability, ()>,
    categories: Fields<AbilityCategory, ()>,
    params: Params<AbilityQuery>,
    category_params: Params<AbilityQuery>,
    extra: ExtraFields,
}

impl AbilityRoutes {
    /// The controller for this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        let mut category_params = Params::<AbilityQuery>::new(CATEGORY);
        paging(&mut category_params);
        AbilityRoutes {
            site: Arc::clone(site),
            abilities: ability_fields().with_extra(extra, ABILITY),
            categories: category_fields().with_extra(extra, CATEGORY),
            params: params(),
            category_params,
            extra: extra.clone(),
        }
    }

    fn url(&self, settings: &Settings, path: &str) -> String {
        settings.urls.rest(&format!("/{}/{path}", self.site.brand.side_namespace("abilities")))
    }

    async fn ability(&self, ability: &Ability, settings: &Settings, req: &Request) -> Result<(Map, Option<Links>)> {
        let view = respond::view(req);
        let mut data = self.abilities.plan(&view).prepare(ability);
        respond::add_extra(&self.extra, ABILITY, &mut data, req, &view).await?;
        let links = view.wants_links().then(|| {
            let own = self.url(settings, &format!("abilities/{}", ability.name));
            let mut links = Links::new();
            links.add("self", Link::new(&own).allow(["GET"]));
            links.add("collection", Link::new(self.url(settings, "abilities")));
            links.add(format!("{}:action-run", self.site.brand.curie()), Link::new(format!("{own}/run")));
            links
        });
        Ok((data, links))
    }

    async fn category(
        &self,
        category: &AbilityCategory,
        settings: &Settings,
        req: &Request,
    ) -> Result<(Map, Option<Links>)> {
        let view = respond::view(req);
        let mut data = self.categories.plan(&view).prepare(category);
        respond::add_extra(&self.extra, CATEGORY, &mut data, req, &view).await?;
        let links = view.wants_links().then(|| {
            let mut links = Links::new();
            let own = self.url(settings, &format!("categories/{}", category.slug));
            links.add("self", Link::new(own).allow(["GET"]));
            links.add("collection", Link::new(self.url(settings, "categories")));
            let abilities = with_query(&self.url(settings, "abilities"), "category", &category.slug);
            links.add("abilities", Link::new(abilities));
            links
        });
        Ok((data, links))
    }

    /// The list response with total headers and links to the previous and next pages.
    fn paged(&self, items: Vec<Value>, paging: &Paging, req: &Request, collection: &str) -> Response {
        let mut response = Response::new(Value::Array(items));
        for (name, value) in total_headers(paging.total, paging.pages()) {
            // In WordPress these totals are strings, which is visible in an envelope.
            response = response.header(&self.site.brand.header(name), value.to_string());
        }
        for (relation, href) in paging.links_from_page(collection, &req.params().query) {
            response = response.link_header(relation, &href, &[]);
        }
        response
    }

    async fn can_read(self: Arc<Self>, req: Request) -> Result<()> {
        if caller(&req).has("read") { Ok(()) } else { Err(errors::forbidden(&req)) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let query = self.params.read(|name| req.param(name).cloned())?;
        let settings = self.site.settings()?;
        let all = self.site.abilities.abilities.values().filter(|ability| query.matches(ability));
        let (page, paging) = query.page_of(all);
        let mut items = Vec::with_capacity(page.len());
        for ability in page {
            let (data, links) = self.ability(ability, &settings, &req).await?;
            items.push(respond::with_links(data, links, &req));
        }
        Ok(self.paged(items, &paging, &req, &self.url(&settings, "abilities")))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let ability = self.site.abilities.served(&req.require::<String>("name")?).ok_or_else(not_found)?;
        let settings = self.site.settings()?;
        let (data, links) = self.ability(ability, &settings, &req).await?;
        Ok(respond::single(data, links))
    }

    async fn list_categories(self: Arc<Self>, req: Request) -> Result<Response> {
        let query = self.category_params.read(|name| req.param(name).cloned())?;
        let settings = self.site.settings()?;
        let (page, paging) = query.page_of(self.site.abilities.categories.values());
        let mut items = Vec::with_capacity(page.len());
        for category in page {
            let (data, links) = self.category(category, &settings, &req).await?;
            items.push(respond::with_links(data, links, &req));
        }
        Ok(self.paged(items, &paging, &req, &self.url(&settings, "categories")))
    }

    async fn fetch_category(self: Arc<Self>, req: Request) -> Result<Response> {
        let slug: String = req.require("slug")?;
        let category = self.site.abilities.categories.get(&slug).ok_or_else(category_not_found)?;
        let settings = self.site.settings()?;
        let (data, links) = self.category(category, &settings, &req).await?;
        Ok(respond::single(data, links))
    }

    // Run

    /// Checks the method, the input and the permission callback, in this order.
    async fn can_run(self: Arc<Self>, req: Request) -> Result<(Ability, AbilityCall)> {
        let ability = self.site.abilities.served(&req.require::<String>("name")?).ok_or_else(not_found)?;
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
        let call = AbilityCall { site: Arc::clone(&self.site.renderer), caller: caller(&req), input, request: req };
        if !(ability.permission)(&call) {
            return Err(cannot_execute(&call.request));
        }
        Ok((ability.clone(), call))
    }

    async fn run(self: Arc<Self>, _: Request, (ability, call): (Ability, AbilityCall)) -> Result<Response> {
        Ok(Response::new(ability.run(call).await?))
    }
}

impl Controller for AbilityRoutes {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let ability = Schema::compile(self.abilities.item_schema());
        let category = Schema::compile(self.categories.item_schema());
        let result = types(ANYTHING).describe("Output of the ability.").context(VIEW_EDIT).readonly();
        let mut output = Fields::<(), ()>::new("ability-execution");
        output.add("result", result);
        let name = || Args::from([("name", string().describe("Name of the ability, with its namespace.").pattern(r"^[a-zA-Z0-9\-\/]+$"))]);
        let slug = Args::from([("slug", string().describe("The category's slug.").pattern(r"^[a-z0-9]+(?:-[a-z0-9]+)*$"))]);
        let input = types(ANYTHING).describe("Input of the ability.").default(Value::Null);
        let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        vec![
            Route::new("/categories")
                .schema(category.clone())
                .endpoint(get(Self::list_categories, Self::can_read).args(self.category_params.query_args())),
            Route::new(r"/categories/(?P<slug>[a-z0-9]+(?:-[a-z0-9]+)*)")
                .schema(category)
                .args(slug)
                .endpoint(get(Self::fetch_category, Self::can_read)),
            Route::new(r"/abilities/(?P<name>[a-zA-Z0-9\-\/]+?)/run")
                .schema(Schema::compile(output.item_schema()))
                .args(name())
                .endpoint(on(methods, Self::run, Self::can_run).args(Args::from([("input", input)]))),
            Route::new("/abilities")
                .schema(ability.clone())
                .endpoint(get(Self::list, Self::can_read).args(self.params.query_args())),
            Route::new(r"/abilities/(?P<name>[a-zA-Z0-9\-\/]+)")
                .schema(ability)
                .args(name())
                .endpoint(get(Self::fetch, Self::can_read)),
        ]
    }
}
