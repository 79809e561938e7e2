//! Ready-made forms of core blocks that depend on what a site has registered.

use serde_json::{Value, json};
use svc_model::{PostType, PostTypes, Taxonomies, Taxonomy};

/// A part that templates share, as its block offers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its name for programs.
    pub slug: String,
    /// What people call it.
    pub title: String,
    /// The theme that it is of.
    pub theme: String,
    /// Where it stands: `header`, `footer`, `uncategorized`.
    pub area: String,
}

/// Forms of `core/navigation-link`: one for each type and taxonomy that can stand in menus.
pub fn of_navigation_link(types: &PostTypes, taxonomies: &Taxonomies) -> Vec<Value> {
    let title = |name: &str, singular: &str| match name {
        "post_format" => "Post Format Link".to_owned(),
        _ => format!("{singular} link"),
    };
    let form = |name: &str, singular: &str, kind: &str| {
        // The block calls tags by the short name.
        let short = if name == "post_tag" { "tag" } else { name };
        json!({
            "name": short,
            "title": title(name, singular),
            "description": format!("Leads to a page of the kind {}.", singular.to_lowercase()),
            "attributes": {"type": short, "kind": kind},
        })
    };
    let is_linked = |t: &&PostType| t.show_in_nav_menus;
    let types = || types.iter().filter(is_linked).map(|t| (t.name.as_str(), t.singular_label.as_str(), "post-type"));
    let groups = |t: &&Taxonomy| t.show_in_nav_menus;
    let taxonomies =
        || taxonomies.iter().filter(groups).map(|t| (t.name.as_str(), t.singular_label.as_str(), "taxonomy"));
    // Those of the core come first.
    let all = || types().chain(taxonomies());
    let own = all().filter(|(name, ..)| CORE.contains(name));
    let others = all().filter(|(name, ..)| !CORE.contains(name));
    own.chain(others).map(|(name, singular, kind)| form(name, singular, kind)).collect()
}

/// Types and taxonomies that every site has.
const CORE: [&str; 5] = ["post", "page", "category", "post_tag", "post_format"];

/// Forms of `core/post-terms`: one for each taxonomy of posts that editors see.
pub fn of_post_terms(taxonomies: &Taxonomies) -> Vec<Value> {
    let shown = taxonomies.iter().filter(|t| t.publicly_queryable && t.show_in_rest);
    let form = |t: &Taxonomy| {
        let mut form = json!({
            "name": t.name,
            "title": t.label,
            "description": format!("Shows the terms of the taxonomy {}.", t.label),
            "attributes": {"term": t.name},
            "isActive": ["term"],
            "scope": ["inserter", "transform"],
        });
        if t.name == "category" {
            form["isDefault"] = true.into();
        }
        form
    };
    let (own, others): (Vec<_>, Vec<_>) =
        shown.map(|t| (t, form(t))).partition(|(t, _)| CORE.contains(&t.name.as_str()));
    own.into_iter().chain(others).map(|(_, form)| form).collect()
}

/// Forms of `core/template-part`: one for header and footer, and one for each part that the theme has.
pub fn of_template_part(parts: &[Part]) -> Vec<Value> {
    let areas = [("header", "Header"), ("footer", "Footer")].map(|(area, title)| {
        json!({
            "name": format!("area_{area}"),
            "title": title,
            "description": format!("A {area} that several templates share."),
            "attributes": {"area": area},
            "scope": [],
            "icon": area,
        })
    });
    let parts = parts.iter().map(|part| {
        let attributes = json!({"slug": part.slug, "theme": part.theme, "area": part.area});
        let icon = if matches!(part.area.as_str(), "header" | "footer") { part.area.as_str() } else { "layout" };
        json!({
            "name": format!("instance_{}", part.slug),
            "title": part.title,
            "description": format!("The part {} of the theme.", part.slug),
            "attributes": attributes,
            "scope": ["inserter"],
            "example": {"attributes": attributes},
            "icon": icon,
        })
    });
    areas.into_iter().chain(parts).collect()
}
