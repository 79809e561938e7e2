//! Views and forms of post types and other entities.

use serde_json::{Map, Value, json};
use svc_model::PostType;

/// Views and form of an entity.
pub(super) struct Views {
    pub(super) default_view: Value,
    pub(super) default_layouts: Value,
    pub(super) view_list: Value,
    pub(super) form: Value,
}

/// Predefined views of pages by status: slug, title, status.
const STATUSES: [(&str, &str, &str); 6] = [
    ("published", "Published", "publish"),
    ("future", "Scheduled", "future"),
    ("drafts", "Drafts", "draft"),
    ("pending", "Pending", "pending"),
    ("private", "Private", "private"),
    ("trash", "Trash", "trash"),
];

/// A form field with its own layout.
fn field_with_layout(id: &str, layout: &str, label: &str) -> Value {
    json!({"id": id, "layout": {"type": layout, "labelPosition": label}})
}

/// A group of form fields with a label.
fn group(id: &str, label: &str, children: &[Value]) -> Value {
    json!({"id": id, "label": label, "children": children})
}

fn panel(fields: &[Value]) -> Value {
    json!({"layout": {"type": "panel"}, "fields": fields})
}

/// The form for posts.
fn post_form() -> Value {
    let status = field_with_layout("status", "regular", "none");
    let comments = field_with_layout("comment_status", "regular", "none");
    panel(&[
        field_with_layout("featured_media", "regular", "none"),
        field_with_layout("post-content-info", "regular", "none"),
        field_with_layout("excerpt", "panel", "top"),
        group("status", "Status", &[status, "scheduled_date".into(), "password".into(), "sticky".into()]),
        "date".into(),
        "slug".into(),
        "author".into(),
        "template".into(),
        group("discussion", "Discussion", &[comments, "ping_status".into()]),
        "parent".into(),
        "format".into(),
        "revisions".into(),
    ])
}

/// The default configuration: a table sorted by title.
fn all(title: &str, form: Value) -> Views {
    Views {
        default_view: json!({
            "type": "table", "filters": [], "sort": {"field": "title", "direction": "asc"}, "perPage": 20,
            "fields": ["author", "status"], "titleField": "title",
        }),
        default_layouts: json!({"table": {}, "grid": {}, "list": {}}),
        view_list: json!([{"title": title, "slug": "all"}]),
        form,
    }
}

/// Views of entities other than posts.
pub(super) fn other() -> Views {
    all("All items", Value::Object(Map::new()))
}

/// Views of the posts of a type.
pub(super) fn posts(post_type: &PostType) -> Views {
    let title = if post_type.name == "post" { format!("All {}", post_type.label) } else { post_type.label.clone() };
    all(post_type.labels.get("all_items").unwrap_or(&title), post_form())
}

/// Views of pages: a hierarchical list, and one view per status.
pub(super) fn pages(post_type: &PostType) -> Views {
    let aligned_layout = || json!({"styles": {"author": {"align": "start"}}});
    let mut views = vec![json!({"title": format!("All {}", post_type.label), "slug": "all"})];
    for (slug, title, status) in STATUSES {
        let filter = json!({"field": "status", "operator": "isAny", "value": status, "isLocked": true});
        let view = match status {
            "trash" => json!({"type": "table", "layout": aligned_layout(), "filters": [filter]}),
            _ => json!({"filters": [filter]}),
        };
        views.push(json!({"title": title, "slug": slug, "view": view}));
    }
    Views {
        default_view: json!({
            "type": "list", "filters": [], "perPage": 20, "sort": {"field": "title", "direction": "asc"},
            "showLevels": true, "titleField": "title", "mediaField": "featured_media", "fields": ["author", "status"],
        }),
        default_layouts: json!({"table": {"layout": aligned_layout()}, "grid": {}, "list": {}}),
        view_list: Value::Array(views),
        form: post_form(),
    }
}

/// Views of patterns: one per category, sorted by title.
pub(super) fn patterns(categories: &[(String, String)]) -> Views {
    let badges = || json!({"badgeFields": ["sync-status"]});
    let mut categories = categories.to_vec();
    categories.sort_by_cached_key(|(_, title)| title.to_lowercase());
    let fixed = [("all-patterns", "All patterns"), ("my-patterns", "My patterns")];
    let fixed = fixed.map(|(slug, title)| (slug.to_owned(), title.to_owned()));
    let views = fixed.into_iter().chain(categories);
    Views {
        default_view: json!({
            "type": "grid", "perPage": 20, "titleField": "title", "mediaField": "preview", "fields": ["sync-status"],
            "filters": [], "layout": badges(),
        }),
        default_layouts: json!({
            "table": {"layout": {"styles": {"author": {"width": "1%"}}}}, "grid": {"layout": badges()},
        }),
        view_list: views.map(|(slug, title)| json!({"title": title, "slug": slug})).collect(),
        form: panel(&[
            field_with_layout("excerpt", "panel", "top"),
            field_with_layout("post-content-info", "regular", "none"),
            "sync-status".into(),
            "revisions".into(),
        ]),
    }
}

/// A predefined view that is filtered by a field.
fn filtered_view(title: &str, slug: &str, field: &str) -> Value {
    let filter = json!({"field": field, "operator": "is", "value": slug, "isLocked": true});
    json!({"title": title, "slug": slug, "view": {"filters": [filter]}})
}

/// Views of templates: one per author.
pub(super) fn templates(authors: &[String]) -> Views {
    let mut views = vec![json!({"title": "All templates", "slug": "all"})];
    views.extend(authors.iter().map(|name| filtered_view(name, name, "author")));
    Views {
        default_view: json!({
            "type": "grid", "perPage": 20, "sort": {"field": "title", "direction": "asc"}, "titleField": "title",
            "descriptionField": "description", "mediaField": "preview", "fields": ["author", "active", "slug", "theme"],
            "filters": [], "showMedia": true,
        }),
        default_layouts: json!({
            "table": {"showMedia": false}, "grid": {"showMedia": true}, "list": {"showMedia": false},
        }),
        view_list: Value::Array(views),
        form: panel(&[
            field_with_layout("description", "panel", "top"),
            field_with_layout("description_readonly", "regular", "none"),
            field_with_layout("last_edited_date", "panel", "none"),
            "revisions".into(),
            "posts_page_title".into(),
            "posts_per_page".into(),
            "default_comment_status".into(),
        ]),
    }
}

/// Views of template parts: one per area. `areas` has names and labels.
pub(super) fn template_parts<'a>(areas: impl Iterator<Item = (&'a str, &'a str)>) -> Views {
    let mut views = vec![json!({"title": "All template parts", "slug": "all-parts"})];
    views.extend(areas.map(|(name, label)| filtered_view(label, name, "area")));
    Views {
        default_view: json!({
            "type": "grid", "perPage": 20, "titleField": "title", "mediaField": "preview", "fields": ["author"],
            "filters": [], "layout": {},
        }),
        default_layouts: json!({
            "table": {"layout": {"styles": {"author": {"width": "1%"}}}}, "grid": {"layout": {}},
        }),
        view_list: Value::Array(views),
        form: panel(&[field_with_layout("last_edited_date", "panel", "none"), "revisions".into()]),
    }
}
