//! The abilities that every site has: it tells of itself, of its caller, and of what it runs on.

use serde_json::{Map, Value, json};
use svc_render::content as render;
use svc_routing::{Method, Result};
use svc_schema::{
    Error,
    build::{SchemaBuilder, array, integer, object, string},
};

use super::{Abilities, Ability, AbilityCall, AbilityCategory};

/// A member of what an ability tells: its name, its schema, what it is called and what it is.
type Told = (&'static str, fn() -> SchemaBuilder, &'static str, &'static str);

#[rustfmt::skip]
const SITE: [Told; 8] = [
    ("name", string, "Name", "The site's name."),
    ("description", string, "Tagline", "What the site is about, in a few words."),
    ("url", string, "Address", "Where the site's pages are."),
    ("wpurl", string, "Address of the software", "Where the site's own files are."),
    ("admin_email", string, "E-mail address", "Where the site's administrators are reached."),
    ("charset", string, "Character set", "The character set of the site's pages."),
    ("language", string, "Language", "The site's language, as pages name it."),
    ("version", string, "Version", "The version of the software."),
];

fn texts() -> SchemaBuilder {
    array(string())
}

#[rustfmt::skip]
const USER: [Told; 11] = [
    ("id", integer, "Number", "The user's number."),
    ("display_name", string, "Public name", "What others see."),
    ("user_nicename", string, "Name in addresses", "As it stands in addresses."),
    ("user_login", string, "Login name", "What the user signs in with."),
    ("roles", texts, "Roles", "The user's roles."),
    ("locale", string, "Language", "The user's language."),
    ("first_name", string, "First name", "The first name, when it is known."),
    ("last_name", string, "Last name", "The last name, when it is known."),
    ("nickname", string, "Nickname", "The nickname."),
    ("description", string, "About", "What the user says of himself."),
    ("user_url", string, "Website", "The user's own site."),
];

fn environments() -> SchemaBuilder {
    string().one_of(["production", "staging", "development", "local"])
}

#[rustfmt::skip]
const ENVIRONMENT: [Told; 4] = [
    ("environment", environments, "Environment", "What the site is used for."),
    ("php_version", string, "Version of PHP", "The version of PHP; empty where there is none."),
    ("db_server_info", string, "Database", "What the database is."),
    ("wp_version", string, "Version", "The version of the software."),
];

/// The input of an ability that tells these members: which of them are wanted.
fn input(told: &[Told]) -> SchemaBuilder {
    let names = string().one_of(told.iter().map(|(name, ..)| *name));
    let wanted = array(names).describe("What is to be told; everything without it.");
    object([("fields", wanted)]).default(json!({})).additional_properties(false)
}

fn output(told: &[Told]) -> SchemaBuilder {
    let members = told.iter().map(|(name, schema, title, text)| (*name, schema().title(title).describe(text)));
    object(members).additional_properties(false)
}

/// An ability that only tells.
fn telling(name: &str, category: &str, label: &str, told: &[Told]) -> Ability {
    Ability::new(name, category, label)
        .takes(input(told))
        .gives(output(told))
        .readonly(true)
        .destructive(false)
        .idempotent(true)
        .public()
}

/// The members that the input asks for.
fn wanted(call: &AbilityCall, all: Value) -> Value {
    let Value::Object(all) = all else { return all };
    match call.input.get("fields").and_then(Value::as_array) {
        Some(fields) if !fields.is_empty() => {
            let named = fields.iter().filter_map(Value::as_str);
            named.filter_map(|name| Some((name.to_owned(), all.get(name)?.clone()))).collect::<Map<_, _>>().into()
        }
        _ => Value::Object(all),
    }
}

pub(super) fn register(all: &mut Abilities) {
    all.categorize(AbilityCategory::new("site", "Site").describe("What the site is and how it is set."));
    all.categorize(AbilityCategory::new("user", "User").describe("Who uses the site and how they are set."));
    let administers = |call: &AbilityCall| call.caller.has("manage_options");
    all.register(
        telling("core/get-site-info", "site", "Get Site Information", &SITE)
            .describe("Tells what the site is called, where it is and what it speaks.")
            .allowed(administers)
            .runs(site_info),
    );
    all.register(
        telling("core/get-user-info", "user", "Get User Information", &USER)
            .describe("Tells what is known of the user who asks.")
            .allowed(|call| call.caller.is_logged_in())
            .runs(user_info),
    );
    all.register(
        telling("core/get-environment-info", "site", "Get Environment Info", &ENVIRONMENT)
            .describe("Tells what the site runs on.")
            .allowed(administers)
            .runs(environment_info),
    );
}

async fn site_info(call: AbilityCall) -> Result<Value> {
    let settings = call.site.settings()?;
    let option = |name: &str| settings.option(name).trim_end_matches('/').to_owned();
    let language = match settings.option("WPLANG") {
        "" => "en-US".to_owned(),
        language => language.replace('_', "-"),
    };
    let all = json!({
        "name": render::title(settings.option("blogname")),
        "description": render::title(settings.option("blogdescription")),
        "url": option("home"),
        "wpurl": option("siteurl"),
        "admin_email": settings.option("admin_email"),
        "charset": "UTF-8",
        "language": language,
        "version": env!("CARGO_PKG_VERSION"),
    });
    Ok(wanted(&call, all))
}

/// Members of what the interface tells users of themselves, and their names here.
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
    let unknown = || Error::new("ability_callback_failed", "The user could not be read.").with_status(500);
    let route = format!("/{}/users/me", call.site.brand.namespace());
    let context = Map::from_iter([("context".to_owned(), Value::from("edit"))]);
    let request = call.request.sub_request(Method::GET, route).with_query(context);
    let server = call.request.server().ok_or_else(unknown)?;
    let user = server.dispatch(request).await.data;
    if !user["id"].is_i64() {
        return Err(unknown());
    }
    let all: Map<String, Value> =
        FROM_USER.iter().map(|(name, member)| ((*name).to_owned(), user[*member].clone())).collect();
    Ok(wanted(&call, Value::Object(all)))
}

async fn environment_info(call: AbilityCall) -> Result<Value> {
    let database = call.site.read(|db| Ok(format!("{:?}", db.dialect())))?;
    let all = json!({
        "environment": call.site.environment,
        "php_version": "",
        "db_server_info": database,
        "wp_version": env!("CARGO_PKG_VERSION"),
    });
    Ok(wanted(&call, all))
}
