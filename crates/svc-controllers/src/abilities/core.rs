//! Built-in abilities: information about the site, the current user and the environment.

use serde_json::{Map, Value, json};
use svc_render::content as render;
use svc_routing::{Method, Result};
use svc_schema::{
    Error,
    build::{SchemaBuilder, array, integer, object, string},
};

use crate::registries::abilities::{Abilities, Ability, AbilityCall, AbilityCategory};

/// A property of an ability's output: name, schema, title and description.
type Property = (&'static str, fn() -> SchemaBuilder, &'static str, &'static str);

#[rustfmt::skip]
const SITE: [Property; 8] = [
    ("name", string, "Name", "The site's name."),
    ("description", string, "Tagline", "The site's tagline."),
    ("url", string, "Site URL", "URL of the site's front page."),
    ("wpurl", string, "Server URL", "Base URL of the server's own files."),
    ("admin_email", string, "E-mail address", "E-mail address of the site's administrator."),
    ("charset", string, "Character set", "Character encoding of the site's pages."),
    ("language", string, "Language", "Language tag of the site's pages."),
    ("version", string, "Version", "Version of the server software."),
];

fn texts() -> SchemaBuilder {
    array(string())
}

#[rustfmt::skip]
const USER: [Property; 11] = [
    ("id", integer, "User ID", "The user's ID."),
    ("display_name", string, "Display name", "Name that is shown publicly."),
    ("user_nicename", string, "Slug", "The user's name in URLs."),
    ("user_login", string, "Username", "Login name of the user."),
    ("roles", texts, "Roles", "The user's roles."),
    ("locale", string, "Language", "Locale of the user."),
    ("first_name", string, "First name", "First name of the user; empty if not set."),
    ("last_name", string, "Last name", "Last name of the user; empty if not set."),
    ("nickname", string, "Nickname", "Nickname of the user."),
    ("description", string, "Biographical info", "Biographical text about the user."),
    ("user_url", string, "Website", "URL of the user's website."),
];

fn environments() -> SchemaBuilder {
    string().one_of(["production", "staging", "development", "local"])
}

#[rustfmt::skip]
const ENVIRONMENT: [Property; 4] = [
    ("environment", environments, "Environment", "Environment type of the site."),
    ("php_version", string, "PHP version", "PHP version; empty on servers without PHP."),
    ("db_server_info", string, "Database", "Database engine."),
    ("wp_version", string, "Version", "Version of the server software."),
];

/// Input schema of an ability with these output properties: an optional list of their names.
fn input(properties: &[Property]) -> SchemaBuilder {
    let names = string().one_of(properties.iter().map(|(name, ..)| *name));
    let fields = array(names).describe("Properties to return. Returns all if omitted.").last(&["description"]);
    object([("fields", fields)]).additional_properties(false).default(json!({}))
}

/// Output schema of an ability with these properties.
fn output(properties: &[Property]) -> SchemaBuilder {
    let properties = properties
        .iter()
        .map(|(name, schema, title, text)| (*name, schema().title(title).describe(text).first(&["type"])));
    object(properties).additional_properties(false)
}

/// A read-only ability that returns these properties.
fn info_ability(name: &str, category: &str, label: &str, properties: &[Property]) -> Ability {
    Ability::new(name, category, label)
        .input_schema(input(properties))
        .output_schema(output(properties))
        .readonly(true)
        .destructive(false)
        .idempotent(true)
        .public()
}

/// Limits an output to the properties in the input's `fields`.
fn select_fields(call: &AbilityCall, all: Value) -> Value {
    let Value::Object(all) = all else { return all };
    match call.input.get("fields").and_then(Value::as_array) {
        Some(fields) if !fields.is_empty() => {
            let named = fields.iter().filter_map(Value::as_str);
            named.filter_map(|name| Some((name.to_owned(), all.get(name)?.clone()))).collect::<Map<_, _>>().into()
        }
        _ => Value::Object(all),
    }
}

/// The built-in abilities.
pub(crate) fn abilities() -> Abilities {
    let mut all = Abilities::default();
    all.register_category(
        AbilityCategory::new("site", "Site").describe("Information about the site and its settings."),
    );
    all.register_category(AbilityCategory::new("user", "User").describe("Information about users and their settings."));
    let administers = |call: &AbilityCall| call.caller.has("manage_options");
    all.register(
        info_ability("core/get-site-info", "site", "Get Site Information", &SITE)
            .describe("Returns the site's name, URLs and language.")
            .permission(administers)
            .execute(site_info),
    );
    all.register(
        info_ability("core/get-user-info", "user", "Get User Information", &USER)
            .describe("Returns the profile of the current user.")
            .permission(|call| call.caller.is_logged_in())
            .execute(user_info),
    );
    all.register(
        info_ability("core/get-environment-info", "site", "Get Environment Info", &ENVIRONMENT)
            .describe("Returns the versions of the software that the site runs on.")
            .permission(administers)
            .execute(environment_info),
    );
    all
}

async fn site_info(call: AbilityCall) -> Result<Value> {
    let settings = call.site.settings(call.request.cx())?;
    let urls = &settings.urls.site;
    let language = match settings.option("WPLANG") {
        "" => "en-US".to_owned(),
        language => language.replace('_', "-"),
    };
    let all = json!({
        "name": render::title(settings.option("blogname")).as_str(),
        "description": render::title(settings.option("blogdescription")).as_str(),
        "url": urls.home_url(""),
        "wpurl": urls.site_url(""),
        "admin_email": settings.option("admin_email"),
        "charset": "UTF-8",
        "language": language,
        "version": env!("CARGO_PKG_VERSION"),
    });
    Ok(select_fields(&call, all))
}

/// Output properties and the fields of the users API that they are read from.
const FROM_USER: [(&str, &str); 11] = [
    ("id", "id"),
    ("display_name", "name"),
    ("user_nicename", "slug"),
    ("user_login", "username"),
    ("roles", "roles"),
    ("locale", "locale"),
    ("first_name", "first_name"),
    ("last_name", "last_name"),
    ("nickname", "nickname"),
    ("description", "description"),
    ("user_url", "url"),
];

async fn user_info(call: AbilityCall) -> Result<Value> {
    let failed = || Error::new("ability_callback_failed", "The user could not be read.").with_status(500);
    let route = format!("/{}/users/me", call.site.brand.namespace());
    let context = Map::from_iter([("context".to_owned(), Value::from("edit"))]);
    let request = call.request.sub_request(Method::GET, route).with_query(context);
    let server = call.request.server().ok_or_else(failed)?;
    let user = server.dispatch(request).await.data;
    if !user["id"].is_i64() {
        return Err(failed());
    }
    let all: Map<String, Value> =
        FROM_USER.iter().map(|(name, field)| ((*name).to_owned(), user[*field].clone())).collect();
    Ok(select_fields(&call, Value::Object(all)))
}

async fn environment_info(call: AbilityCall) -> Result<Value> {
    let database = call.site.read(call.request.cx(), |db| Ok(format!("{:?}", db.dialect())))?;
    let all = json!({
        "environment": call.site.environment,
        "php_version": "",
        "db_server_info": database,
        "wp_version": env!("CARGO_PKG_VERSION"),
    });
    Ok(select_fields(&call, all))
}
