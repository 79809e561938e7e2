//! A report made from the REST API of a WordPress.
//!
//! The REST API does not return everything: which option a renamed setting has, the first part of permalinks, and what callbacks in
//! PHP do. [`ASSUMPTIONS`] lists what is assumed.

use std::time::Duration;

use base64::Engine as _;
use serde_json::{Map, Value, json};
use svc_auth::Secret;
use svc_controllers::site_settings;
use svc_fetch::{Allowed, Get, Guard, GuardedClient};
use svc_model::{PostTypes, Taxonomies};

use super::report::{AdoptedPostType, AdoptedTaxonomy, Meta, Report, Setting};

/// Assumptions about values that the REST API does not return.
pub const ASSUMPTIONS: [&str; 4] = [
    "meta and settings are stored under their names in the REST API",
    "permalinks of posts and terms begin with the name of the type or taxonomy",
    "meta is not stored with revisions",
    "types that are not in the REST API, fields and filters of plugins are not visible",
];

/// Time limit for a response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response, in bytes.
const MAX_BODY: u64 = 32 << 20;

/// Namespaces of WordPress itself.
const CORE_NAMESPACES: [&str; 5] =
    ["oembed/1.0", "wp/v2", "wp-site-health/v1", "wp-block-editor/v1", "wp-abilities/v1"];

/// The REST API of a WordPress.
pub struct RestSource {
    client: GuardedClient,
    url: String,
    authorization: String,
}

/// The responses that a report is made from.
#[derive(Default)]
pub(super) struct Documents {
    pub(super) index: Value,
    pub(super) types: Value,
    pub(super) taxonomies: Value,
    /// The active theme alone.
    pub(super) themes: Value,
}

impl RestSource {
    /// The site with this URL, which may end with `/wp-json`, and a user who may edit posts.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn new(url: &str, user: &str, password: &Secret) -> Result<Self, String> {
        let url = url.trim_end_matches('/').trim_end_matches("/wp-json");
        let origin = Allowed::origin_of(url).ok_or("the URL must be like https://example.org")?;
        let pair = format!("{user}:{}", password.expose());
        let pair = base64::engine::general_purpose::STANDARD.encode(pair);
        let client = GuardedClient::new(Guard::only(vec![origin]), concat!("svc-server/", env!("CARGO_PKG_VERSION")));
        Ok(RestSource { client, url: url.to_owned(), authorization: format!("Basic {pair}") })
    }

    /// Reads the site's types, taxonomies, active theme, and descriptions of routes. Blocks.
    ///
    /// # Errors
    /// If a request fails or is rejected.
    pub fn report(&self) -> Result<Report, String> {
        let documents = Documents {
            index: self.get("/", "context=help")?,
            types: self.get("/wp/v2/types", "context=edit")?,
            taxonomies: self.get("/wp/v2/taxonomies", "context=edit")?,
            themes: self.get("/wp/v2/themes", "status=active")?,
        };
        Ok(documents.report())
    }

    fn get(&self, route: &str, query: &str) -> Result<Value, String> {
        // This form works without permalinks.
        let url = format!("{}/?rest_route={route}&{query}", self.url);
        let get = Get::new(url).header("Authorization", &self.authorization).within(TIMEOUT).max_bytes(MAX_BODY);
        let response = self.client.send(&get).map_err(|error| format!("{route}: {error}"))?;
        let body: Value =
            serde_json::from_slice(&response.body).map_err(|_| format!("{route}: the response is not JSON"))?;
        match response.status {
            200 => Ok(body),
            status => Err(format!("{route}: status {status}, {}", body["message"].as_str().unwrap_or("no message"))),
        }
    }
}

impl Documents {
    pub(super) fn report(&self) -> Report {
        let (core_types, core_taxonomies) = (PostTypes::default(), Taxonomies::default());
        let mut report = Report::default();
        for (name, kind) in entries(&self.types) {
            if core_types.get(name).is_none() {
                report.types.push(post_type(name, kind));
            }
            report.meta.extend(self.meta("post", name, kind["rest_base"].as_str().unwrap_or(name)));
        }
        for (name, taxonomy) in entries(&self.taxonomies) {
            if core_taxonomies.get(name).is_none() {
                report.taxonomies.push(taxonomy_of(name, taxonomy));
            }
            report.meta.extend(self.meta("term", name, taxonomy["rest_base"].as_str().unwrap_or(name)));
        }
        report.meta.extend(self.meta("user", "", "users"));
        report.meta.extend(self.meta("comment", "", "comments"));
        let core = site_settings::core_options();
        let settings =
            entries(self.properties("settings")).filter(|(name, _)| core.iter().all(|[_, own]| own != *name));
        report.settings = settings.map(|(name, schema)| setting(name, schema)).collect();
        let theme = &self.themes[0];
        report.is_block_theme = theme["is_block_theme"] == true;
        report.theme_supports = map(&theme["theme_supports"]);
        let namespaces = self.index["namespaces"].as_array().into_iter().flatten().filter_map(Value::as_str);
        report.namespaces = namespaces.filter(|name| !CORE_NAMESPACES.contains(name)).map(str::to_owned).collect();
        report
    }

    /// Properties in the schema of the items below `wp/v2`.
    fn properties(&self, base: &str) -> &Value {
        &self.index["routes"][format!("/wp/v2/{base}")]["schema"]["properties"]
    }

    fn meta(&self, object: &'static str, of: &str, base: &str) -> Vec<Meta> {
        let meta = entries(&self.properties(base)["meta"]["properties"]);
        meta.map(|(key, schema)| meta_of(object, of, key, schema)).collect()
    }
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn post_type(name: &str, kind: &Value) -> AdoptedPostType {
    let visible = &kind["visibility"];
    AdoptedPostType {
        name: name.to_owned(),
        label: text(&kind["name"]),
        singular: text(&kind["labels"]["singular_name"]),
        description: text(&kind["description"]),
        public: kind["viewable"] == true,
        hierarchical: kind["hierarchical"] == true,
        show_ui: visible["show_ui"].as_bool(),
        show_in_nav_menus: visible["show_in_nav_menus"].as_bool(),
        menu_icon: kind["icon"].as_str().map(str::to_owned),
        has_archive: kind["has_archive"].clone(),
        template: kind["template"].clone(),
        template_lock: kind["template_lock"].clone(),
        rest_base: text(&kind["rest_base"]),
        rest_namespace: text(&kind["rest_namespace"]),
        taxonomies: texts(&kind["taxonomies"]),
        capabilities: map(&kind["capabilities"]),
        supports: kind["supports"].clone(),
    }
}

fn taxonomy_of(name: &str, taxonomy: &Value) -> AdoptedTaxonomy {
    let visible = &taxonomy["visibility"];
    AdoptedTaxonomy {
        name: name.to_owned(),
        label: text(&taxonomy["name"]),
        singular: text(&taxonomy["labels"]["singular_name"]),
        description: text(&taxonomy["description"]),
        public: visible["public"] == true,
        hierarchical: taxonomy["hierarchical"] == true,
        publicly_queryable: visible["publicly_queryable"].as_bool(),
        show_ui: visible["show_ui"].as_bool(),
        show_in_nav_menus: visible["show_in_nav_menus"].as_bool(),
        show_tagcloud: taxonomy["show_cloud"].as_bool(),
        show_in_quick_edit: visible["show_in_quick_edit"].as_bool(),
        show_admin_column: visible["show_admin_column"].as_bool(),
        rest_base: text(&taxonomy["rest_base"]),
        rest_namespace: text(&taxonomy["rest_namespace"]),
        types: texts(&taxonomy["types"]),
        capabilities: map(&taxonomy["capabilities"]),
    }
}

/// Meta from its schema. Only the schema of a single value has a title.
fn meta_of(object: &'static str, of: &str, key: &str, schema: &Value) -> Meta {
    let single = schema.get("title").is_some() || schema["type"] != "array";
    let item = if single { schema } else { &schema["items"] };
    Meta {
        object,
        of: of.to_owned(),
        key: key.to_owned(),
        kind: text(&item["type"]),
        description: text(&item["description"]),
        single,
        schema: keywords(item),
    }
}

fn setting(name: &str, schema: &Value) -> Setting {
    Setting {
        option: name.to_owned(),
        kind: text(&schema["type"]),
        title: text(&schema["title"]),
        description: text(&schema["description"]),
        default: schema.get("default").filter(|default| !default.is_null()).cloned(),
        schema: without(&Value::Object(keywords(schema)), &["default", "title"]),
    }
}

/// The keywords of a schema that do not follow from its type, and have no field of their own.
fn keywords(schema: &Value) -> Map<String, Value> {
    let mut keywords = without(schema, &["type", "description"]);
    let empty = match schema["type"].as_str() {
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array" | "object") => json!([]),
        _ => json!(""),
    };
    keywords.retain(|name, value| !(name == "title" && value == "" || name == "default" && *value == empty));
    keywords
}

fn without(schema: &Value, names: &[&str]) -> Map<String, Value> {
    let mut map = map(schema);
    map.retain(|name, _| !names.contains(&name.as_str()));
    map
}
