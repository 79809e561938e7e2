//! Variations of core blocks that depend on the site's post types, taxonomies and template parts.

use serde_json::{Value, json};
use svc_model::{PostType, PostTypes, Taxonomies, Taxonomy};

/// A template part, for the variations of the template part block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartVariation {
    /// Slug.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Theme of the template part.
    pub theme: String,
    /// Its area: `header`, `footer`, `uncategorized`.
    pub area: String,
}

/// Variations of `core/navigation-link`: one for each post type and taxonomy that is available in menus.
pub fn navigation_link_variations(types: &PostTypes, taxonomies: &Taxonomies) -> Vec<Value> {
    let title = |name: &str, singular: &str| match name {
        "post_format" => "Post Format Link".to_owned(),
        _ => format!("{singular} link"),
    };
    let variation = |name: &str, singular: &str, kind: &str| {
        // The block uses the short name of tags.
        let short = if name == "post_tag" { "tag" } else { name };
        json!({
            "name": short,
            "title": title(name, singular),
            "description": format!("Links to a page of the type {}.", singular.to_lowercase()),
            "attributes": {"type": short, "kind": kind},
        })
    };
    let is_linked = |t: &&PostType| t.show_in_nav_menus;
    let types = || types.iter().filter(is_linked).map(|t| (t.name.as_str(), t.singular_label.as_str(), "post-type"));
    let groups = |t: &&Taxonomy| t.show_in_nav_menus;
    let taxonomies =
        || taxonomies.iter().filter(groups).map(|t| (t.name.as_str(), t.singular_label.as_str(), "taxonomy"));
    // Built-in types and taxonomies come first.
    let all = || types().chain(taxonomies());
    let own = all().filter(|(name, ..)| CORE.contains(name));
    let others = all().filter(|(name, ..)| !CORE.contains(name));
    own.chain(others).map(|(name, singular, kind)| variation(name, singular, kind)).collect()
}

/// Built-in post types and taxonomies.
const CORE: [&str; 5] = ["post", "page", "category", "post_tag", "post_format"];

/// Variations of `core/post-terms`: one for each public taxonomy in the REST API.
pub fn post_terms_variations(taxonomies: &Taxonomies) -> Vec<Value> {
    let public = taxonomies.iter().filter(|t| t.publicly_queryable && t.show_in_rest);
    let variation = |t: &Taxonomy| {
        let mut variation = json!({
            "name": t.name,
            "title": t.label,
            "description": format!("Shows the post's terms in the {} taxonomy.", t.label),
            "attributes": {"term": t.name},
            "isActive": ["term"],
            "scope": ["inserter", "transform"],
        });
        if t.name == "category" {
            variation["isDefault"] = true.into();
        }
        variation
    };
    let (own, others): (Vec<_>, Vec<_>) =
        public.map(|t| (t, variation(t))).partition(|(t, _)| CORE.contains(&t.name.as_str()));
    own.into_iter().chain(others).map(|(_, variation)| variation).collect()
}

/// Variations of `core/template-part`: one for header and footer, and one for each template part of the theme.
pub fn template_part_variations(parts: &[PartVariation]) -> Vec<Value> {
    let areas = [("header", "Header"), ("footer", "Footer")].map(|(area, title)| {
        json!({
            "name": format!("area_{area}"),
            "title": title,
            "description": format!("A {area} shared by several templates."),
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
            "description": format!("The theme's {} template part.", part.slug),
            "attributes": attributes,
            "scope": ["inserter"],
            "example": {"attributes": attributes},
            "icon": icon,
        })
    });
    areas.into_iter().chain(parts).collect()
}
