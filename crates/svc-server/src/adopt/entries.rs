//! Entries of `svc.toml` for the types, taxonomies, meta, settings and sidebars of a report. Fields that have the value of the default
//! are left out.

use serde_json::{Map, Value, json};
use svc_controllers::site_settings;
use svc_model::{PostTypeCaps, Taxonomy as SvcTaxonomy};

use super::report::{Meta, PostType, Setting, Sidebar, Taxonomy};

/// Namespace of the routes of types and taxonomies.
pub(super) const NAMESPACE: &str = "wp/v2";

/// Classes that serve types and taxonomies by default.
const CONTROLLERS: [&str; 4] = [
    "WP_REST_Posts_Controller",
    "WP_REST_Revisions_Controller",
    "WP_REST_Autosaves_Controller",
    "WP_REST_Terms_Controller",
];

/// An entry, or the reason for which there is none.
pub(super) type Entry = Result<Map<String, Value>, String>;

/// An entry, without fields that have the value of the default.
pub(super) fn entry(fields: Value, defaults: &[(&str, Value)]) -> Map<String, Value> {
    let Value::Object(mut map) = fields else { return Map::new() };
    map.retain(|name, value| {
        !value.is_null() && !defaults.iter().any(|(other, default)| other == name && default == value)
    });
    map
}

fn custom_controller(controllers: &[String]) -> Option<String> {
    let other = controllers.iter().find(|name| !CONTROLLERS.contains(&name.trim_start_matches('\\')))?;
    Some(format!("its REST API is the PHP class {other}"))
}

/// `Ok` if the routes are in the usual namespace.
fn check_namespace(namespace: &Value) -> Result<(), String> {
    match namespace.as_str() {
        None | Some("" | NAMESPACE) => Ok(()),
        Some(other) => Err(format!("its routes are below {other}")),
    }
}

impl PostType {
    /// The base of its routes, if it has any.
    pub(super) fn rest_base(&self) -> Option<String> {
        self.show_in_rest.then(|| base(&self.rest_base, &self.name))
    }
}

impl Taxonomy {
    pub(super) fn rest_base(&self) -> Option<String> {
        self.show_in_rest.then(|| base(&self.rest_base, &self.name))
    }
}

fn base(rest_base: &Value, name: &str) -> String {
    rest_base.as_str().filter(|base| !base.is_empty()).unwrap_or(name).to_owned()
}

pub(super) fn type_entry(kind: &PostType) -> Entry {
    if kind.show_in_rest {
        check_namespace(&kind.rest_namespace)?;
        if let Some(reason) = custom_controller(&kind.controllers) {
            return Err(reason);
        }
    }
    let Some(slug) = &kind.slug else { return Err("its posts have no permalinks".to_owned()) };
    let defaults = |public: bool| {
        [
            ("label", json!(kind.name)),
            ("description", json!("")),
            ("public", json!(true)),
            ("hierarchical", json!(false)),
            ("in_interface", json!(true)),
            ("rest_base", json!(kind.name)),
            ("taxonomies", json!([])),
            ("slug", json!(kind.name)),
            ("template", json!([])),
            ("searchable", json!(public)),
            ("queryable", json!(public)),
            ("show_ui", json!(public)),
            ("show_in_nav_menus", json!(public)),
            ("map_meta_cap", json!(true)),
        ]
    };
    let archive = match &kind.has_archive {
        Value::String(path) if !path.is_empty() => json!(path),
        Value::Bool(true) => json!(slug),
        _ => Value::Null,
    };
    let supports: Vec<&String> = match &kind.supports {
        Value::Object(features) => features.keys().filter(|name| *name != "autosave").collect(),
        _ => Vec::new(),
    };
    Ok(entry(
        json!({
            "name": kind.name,
            "label": kind.label,
            "singular": kind.singular,
            "description": kind.description,
            "public": kind.public,
            "hierarchical": kind.hierarchical,
            "in_interface": kind.show_in_rest,
            "rest_base": kind.rest_base(),
            "supports": supports,
            "taxonomies": if kind.taxonomies.is_array() { kind.taxonomies.clone() } else { json!([]) },
            "archive": archive,
            "slug": slug,
            "icon": kind.menu_icon,
            "capabilities": capabilities(&kind.capabilities)?,
            "template": if kind.template.is_array() { kind.template.clone() } else { json!([]) },
            "template_lock": if kind.template_lock.is_string() { kind.template_lock.clone() } else { Value::Null },
            "searchable": kind.exclude_from_search.map(|excluded| !excluded),
            "queryable": kind.publicly_queryable,
            "show_ui": kind.show_ui,
            "show_in_nav_menus": kind.show_in_nav_menus,
            "map_meta_cap": kind.map_meta_cap,
            "delete_with_user": kind.delete_with_user,
        }),
        &defaults(kind.public),
    ))
}

/// The stems of a type's capabilities; `None` for those of posts.
fn capabilities(caps: &Map<String, Value>) -> Result<Option<[String; 2]>, String> {
    let stem = |name: &str| caps.get(name)?.as_str()?.strip_prefix("edit_");
    if caps.is_empty() {
        return Ok(None);
    }
    let custom = || "its capabilities do not follow from two names".to_owned();
    let (Some(one), Some(many)) = (stem("edit_post"), stem("edit_posts")) else { return Err(custom()) };
    let derived = PostTypeCaps::of(one, many);
    let pairs = derived.pairs();
    let is_derived = pairs.iter().all(|(name, cap)| caps.get(*name).is_none_or(|own| own == cap));
    match (is_derived, one, many) {
        (false, ..) => Err(custom()),
        (true, "post", "posts") => Ok(None),
        (true, one, many) => Ok(Some([one.to_owned(), many.to_owned()])),
    }
}

pub(super) fn taxonomy_entry(taxonomy: &Taxonomy) -> Entry {
    if taxonomy.show_in_rest {
        check_namespace(&taxonomy.rest_namespace)?;
        if let Some(reason) = custom_controller(&taxonomy.controllers) {
            return Err(reason);
        }
    }
    let is_set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && value != "";
    if is_set(&taxonomy.default_term) || is_set(&taxonomy.sort) {
        return Err("it has a default term or an order of its own".to_owned());
    }
    let Some(slug) = &taxonomy.slug else { return Err("its terms have no permalinks".to_owned()) };
    let own = SvcTaxonomy::new(&taxonomy.name, &[]).caps;
    let usual = [&own.manage_terms, &own.edit_terms, &own.delete_terms, &own.assign_terms];
    let names = ["manage_terms", "edit_terms", "delete_terms", "assign_terms"];
    if names.iter().zip(usual).any(|(name, cap)| taxonomy.capabilities.get(*name).is_some_and(|own| own != cap)) {
        return Err("it has capabilities of its own".to_owned());
    }
    let public = taxonomy.public;
    Ok(entry(
        json!({
            "name": taxonomy.name,
            "types": taxonomy.types,
            "label": taxonomy.label,
            "singular": taxonomy.singular,
            "description": taxonomy.description,
            "public": public,
            "hierarchical": taxonomy.hierarchical,
            "in_interface": taxonomy.show_in_rest,
            "rest_base": taxonomy.rest_base(),
            "slug": slug,
            "queryable": taxonomy.publicly_queryable,
            "show_ui": taxonomy.show_ui,
            "show_in_nav_menus": taxonomy.show_in_nav_menus,
            "show_tagcloud": taxonomy.show_tagcloud,
            "show_in_quick_edit": taxonomy.show_in_quick_edit,
            "show_admin_column": taxonomy.show_admin_column,
        }),
        &[
            ("label", json!(taxonomy.name)),
            ("description", json!("")),
            ("public", json!(true)),
            ("hierarchical", json!(false)),
            ("in_interface", json!(true)),
            ("rest_base", json!(taxonomy.name)),
            ("slug", json!(taxonomy.name)),
            ("queryable", json!(public)),
            ("show_ui", json!(public)),
            ("show_in_nav_menus", json!(public)),
            ("show_tagcloud", json!(public)),
            ("show_in_quick_edit", json!(public)),
            ("show_admin_column", json!(false)),
        ],
    ))
}

pub(super) fn meta_entry(meta: &Meta) -> Entry {
    if meta.prepared {
        return Err("PHP code computes its values in responses".to_owned());
    }
    Ok(entry(
        json!({
            "object": meta.object,
            "of": meta.of,
            "key": meta.key,
            "type": meta.kind,
            "name": meta.name,
            "description": meta.description,
            "default": meta.default,
            "list": !meta.single,
            "revisions": meta.revisions,
            "schema": keywords(&meta.schema),
        }),
        &[
            ("of", json!("")),
            ("name", json!(meta.key)),
            ("description", json!("")),
            ("list", json!(false)),
            ("revisions", json!(false)),
            ("schema", json!({})),
        ],
    ))
}

pub(super) fn setting_entry(setting: &Setting) -> Entry {
    // A plugin may register the value of a constant as the default.
    let is_known = site_settings::is_secret_option(&setting.option);
    let is_secret = setting.secret || is_known;
    let default = setting.default.as_ref().map(|d| if is_secret { site_settings::without_texts(d) } else { d.clone() });
    let mut schema = keywords(&setting.schema);
    if is_secret && let Some(schema) = schema.as_object_mut() {
        for name in ["default", "examples", "enum", "const"] {
            schema.shift_remove(name);
        }
    }
    Ok(entry(
        json!({
            "option": setting.option,
            "type": setting.kind,
            "name": setting.name,
            "title": setting.title,
            "description": setting.description,
            "default": default,
            "secret": is_secret && !is_known,
            "schema": schema,
        }),
        &[
            ("name", json!(setting.option)),
            ("title", json!("")),
            ("description", json!("")),
            ("secret", json!(false)),
            ("schema", json!({})),
        ],
    ))
}

pub(super) fn sidebar_entry(sidebar: &Sidebar) -> Map<String, Value> {
    entry(
        json!({
            "id": sidebar.id,
            "name": sidebar.name,
            "description": sidebar.description,
            "class": sidebar.class,
            "before_widget": sidebar.before_widget,
            "after_widget": sidebar.after_widget,
            "before_title": sidebar.before_title,
            "after_title": sidebar.after_title,
            "show_in_rest": sidebar.show_in_rest,
        }),
        &[("description", json!("")), ("class", json!("")), ("show_in_rest", json!(false))],
    )
}

/// Keywords of a schema; PHP encodes an empty object as a list.
fn keywords(schema: &Value) -> Value {
    if schema.is_object() { schema.clone() } else { json!({}) }
}
