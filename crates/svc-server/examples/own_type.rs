//! A server with a post type of its own, an additional field, a route, and an extension that administrators activate and
//! deactivate.
//!
//! ```text
//! cargo run -p svc-server --example own_type
//! curl http://127.0.0.1:8080/svc-json/svc/v2/recipes
//! curl http://127.0.0.1:8080/svc-json/cookbook/v1/random
//! ```

use std::{process::ExitCode, sync::Arc};

use serde_json::{Map, Value, json};
use svc_server::{
    Extension, Plugin, Site, SiteBuilder,
    controllers::RestSetup,
    model::PostType,
    routing::{DependsOn, ExtraField, Method, Registry, Request, Response, Result, Route, get, public},
    schema::{
        Error,
        build::{integer, object, string},
    },
};

/// The post type: `/svc/v2/recipes`, with an archive at `/recipes/`.
fn recipes(setup: &mut RestSetup) {
    let features = ["title", "editor", "author", "excerpt", "thumbnail", "custom-fields"];
    let mut recipe =
        PostType::new("recipe").labelled("Recipes", "Recipe").public().rest("recipes").supporting(&features);
    recipe.has_archive = Some("recipes".to_owned());
    setup.registries.types.register(recipe);
}

/// A field of recipes: the number of steps, which are the list items of the content.
fn field(registry: &mut Registry) {
    let schema = integer().describe("Number of steps.").context(&["view", "edit"]).readonly().compile();
    let steps = |recipe: Map<String, Value>, _: Request| async move { Ok(Value::from(steps(&recipe))) };
    registry.field(&["recipe"], "steps", ExtraField::new(schema).get(steps));
}

/// The number of list items in a prepared post.
fn steps(recipe: &Map<String, Value>) -> usize {
    let rendered = recipe.get("content").and_then(|content| content["rendered"].as_str());
    rendered.unwrap_or_default().matches("<li").count()
}

/// A route: one of the latest recipes, which differs from second to second.
fn route(registry: &mut Registry, site: &Arc<Site>) {
    let (collection, site) = (format!("/{}/recipes", site.brand.namespace()), Arc::clone(site));
    let schema =
        object([("id", integer().describe("The recipe's ID.")), ("title", string().describe("The recipe's title."))]);
    let handler = move |req: Request| {
        let seed = site.now(req.cx()).and_utc().timestamp();
        random(req, collection.clone(), seed)
    };
    let route = Route::new("/random").schema(schema.compile()).endpoint(get(handler, public));
    registry.route("cookbook/v1", route).expect("a namespace and a path");
}

/// Requests the list of recipes in process, so that the rules about who may read a recipe apply.
async fn random(req: Request, collection: String, seed: i64) -> Result {
    let server = req.server().ok_or_else(|| Error::new("cookbook_no_server", "No server."))?;
    let list = server.dispatch(req.sub_request(Method::GET, collection)).await;
    let recipes = list.data.as_array().map(Vec::as_slice).unwrap_or_default();
    let n = i64::try_from(recipes.len()).unwrap_or_default();
    let chosen = seed.checked_rem_euclid(n).and_then(|i| recipes.get(usize::try_from(i).ok()?));
    let recipe = chosen.ok_or_else(|| Error::new("cookbook_empty", "There are no recipes yet.").with_status(404))?;
    Ok(Response::new(json!({"id": recipe["id"], "title": recipe["title"]["rendered"]})))
}

/// An extension: it is listed as the plugin `cookbook-header` and changes responses while it is active.
struct CookbookHeader;

impl Extension for CookbookHeader {
    fn about(&self) -> Plugin {
        Plugin {
            file: "cookbook-header".to_owned(),
            name: "Cookbook Header".to_owned(),
            description: "Adds a header to the responses of recipes.".to_owned(),
            version: "1.0.0".to_owned(),
            ..Plugin::default()
        }
    }

    fn register(&self, registry: &mut Registry, site: &Arc<Site>) {
        let collection = format!("/{}/recipes", site.brand.namespace());
        let header = registry.hooks.post_dispatch(10, move |res, req| {
            if req.route().starts_with(&collection) { res.header("X-Cookbook", "1") } else { res }
        });
        header.depends_on(DependsOn::Nothing);
    }
}

fn main() -> ExitCode {
    SiteBuilder::new()
        .prepare(recipes)
        .register(|registry, rest| {
            field(registry);
            route(registry, &rest.site);
        })
        .extension(CookbookHeader)
        .command_line()
}
