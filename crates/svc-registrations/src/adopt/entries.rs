//! Entries of `svc.toml` for the types, taxonomies, meta and settings of a report. Fields that have the value of the default
//! are left out.

use serde_json::{Map, Value, json};
use svc_controllers::site_settings;
use svc_model::{PostTypeCaps, Taxonomy as SvcTaxonomy};

use super::report::{AdoptedPostType, AdoptedTaxonomy, Meta, Setting};

/// Namespace of the routes of types and taxonomies.
pub(super) const NAMESPACE: &str = "wp/v2";

/// An entry, or why there is none.
pub(super) type Entry = Result<Map<String, Value>, String>;

/// An entry, without fields that have the value of the default.
pub(super) fn entry(fields: Value, defaults: &[(&str, Value)]) -> Map<String, Value> {
    let Value::Object(mut map) = fields else { return Map::new() };
    map.retain(|name, value| {
        !value.is_null() && !defaults.iter().any(|(other, default)| other == name && default == value)
    });
    map
}

/// `Ok` if the routes are in the usual namespace.
fn check_namespace(namespace: &str) -> Result<(), String> {
    if matches!(namespace, "" | NAMESPACE) { Ok(()) } else { Err(format!("its routes are below {namespace}")) }
}

fn base<'a>(rest_base: &'a str, name: &'a str) -> &'a str {
    if rest_base.is_empty() { name } else { rest_base }
}

pub(super) fn type_entry(kind: &AdoptedPostType) -> Entry {
    check_namespace(&kind.rest_namespace)?;
    let archive = match &kind.has_archive {
        Value::String(path) if !path.is_empty() => json!(path),
        Value::Bool(true) => json!(kind.name),
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
            "rest_base": base(&kind.rest_base, &kind.name),
            "supports": supports,
            "taxonomies": kind.taxonomies,
            "archive": archive,
            "icon": kind.menu_icon,
            "capabilities": capabilities(&kind.capabilities)?,
            "template": if kind.template.is_array() { kind.template.clone() } else { json!([]) },
            "template_lock": if kind.template_lock.is_string() { kind.template_lock.clone() } else { Value::Null },
            "show_ui": kind.show_ui,
            "show_in_nav_menus": kind.show_in_nav_menus,
        }),
        &[
            ("label", json!(kind.name)),
            ("description", json!("")),
            ("public", json!(true)),
            ("hierarchical", json!(false)),
            ("rest_base", json!(kind.name)),
            ("taxonomies", json!([])),
            ("template", json!([])),
            ("show_ui", json!(kind.public)),
            ("show_in_nav_menus", json!(kind.public)),
        ],
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

pub(super) fn taxonomy_entry(taxonomy: &AdoptedTaxonomy) -> Entry {
    check_namespace(&taxonomy.rest_namespace)?;
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
            "rest_base": base(&taxonomy.rest_base, &taxonomy.name),
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
            ("rest_base", json!(taxonomy.name)),
            ("queryable", json!(public)),
            ("show_ui", json!(public)),
            ("show_in_nav_menus", json!(public)),
            ("show_tagcloud", json!(public)),
            ("show_in_quick_edit", json!(public)),
            ("show_admin_column", json!(false)),
        ],
    ))
}

pub(super) fn meta_entry(meta: &Meta) -> Map<String, Value> {
    entry(
        json!({
            "object": meta.object,
            "of": meta.of,
            "key": meta.key,
            "type": meta.kind,
            "description": meta.description,
            "list": !meta.single,
            "schema": meta.schema,
        }),
        &[("of", json!("")), ("description", json!("")), ("list", json!(false)), ("schema", json!({}))],
    )
}

pub(super) fn setting_entry(setting: &Setting) -> Map<String, Value> {
    // A plugin may register the value of a constant as the default.
    let is_secret = site_settings::is_secret_option(&setting.option);
    let default = setting.default.as_ref().map(|d| if is_secret { site_settings::without_texts(d) } else { d.clone() });
    let mut schema = setting.schema.clone();
    if is_secret {
        schema.retain(|name, _| !["default", "examples", "enum", "const"].contains(&name.as_str()));
    }
    entry(
        json!({
            "option": setting.option,
            "type": setting.kind,
            "title": setting.title,
            "description": setting.description,
            "default": default,
            "schema": schema,
        }),
        &[("title", json!("")), ("description", json!("")), ("schema", json!({}))],
    )
}
