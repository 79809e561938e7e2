//! Views and forms of each kind of thing.

use serde_json::{Map, Value, json};
use svc_model::PostType;

/// What is told about a kind of thing.
pub(super) struct Views {
    pub(super) default_view: Value,
    pub(super) default_layouts: Value,
    pub(super) view_list: Value,
    pub(super) form: Value,
}

/// Views of pages by status: slug, title, status.
const STATUSES: [(&str, &str, &str); 6] = [
    ("published", "Published", "publish"),
    ("future", "Scheduled", "future"),
    ("drafts", "Drafts", "draft"),
    ("pending", "Pending", "pending"),
    ("private", "Private", "private"),
    ("trash", "Trash", "trash"),
];

/// A field of a form in a layout of its own.
fn placed(id: &str, kind: &str, label: &str) -> Value {
    json!({"id": id, "layout": {"type": kind, "labelPosition": label}})
}

/// Several fields of a form under one label.
fn group(id: &str, label: &str, children: &[Value]) -> Value {
    json!({"id": id, "label": label, "children": children})
}

fn panel(fields: &[Value]) -> Value {
    json!({"layout": {"type": "panel"}, "fields": fields})
}

/// The form of posts.
fn post_form() -> Value {
    let status = placed("status", "regular", "none");
    let comments = placed("comment_status", "regular", "none");
    panel(&[
        placed("featured_media", "regular", "none"),
        placed("post-content-info", "regular", "none"),
        placed("excerpt", "panel", "top"),
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

/// A list by title of everything.
fn all(title: &str, form: Value) -> Views {
    Views {
        default_view: json!({
            "type": "table", "perPage": 20, "sort": {"field": "title", "direction": "asc"}, "titleField": "title",
            "fields": ["author", "status"], "filters": [],
        }),
        default_layouts: json!({"table": {}, "grid": {}, "list": {}}),
        view_list: json!([{"title": title, "slug": "all"}]),
        form,
    }
}

/// Views of things that are no posts.
pub(super) fn other() -> Views {
    all("All items", Value::Object(Map::new()))
}

/// Views of posts of a type.
pub(super) fn posts(kind: &PostType) -> Views {
    let title = if kind.name == "post" { format!("All {}", kind.label) } else { kind.label.clone() };
    all(kind.labels.get("all_items").unwrap_or(&title), post_form())
}

/// Views of pages: as a tree, and by status.
pub(super) fn pages(kind: &PostType) -> Views {
    let aligned = || json!({"layout": {"styles": {"author": {"align": "start"}}}});
    let mut views = vec![json!({"title": format!("All {}", kind.label), "slug": "all"})];
    for (slug, title, status) in STATUSES {
        let filter = json!({"field": "status", "operator": "isAny", "value": status, "isLocked": true});
        let mut view = json!({"filters": [filter]});
        if status == "trash"
            && let (Some(view), Value::Object(layout)) = (view.as_object_mut(), aligned())
        {
            view.insert("type".to_owned(), "table".into());
            view.extend(layout);
        }
        views.push(json!({"title": title, "slug": slug, "view": view}));
    }
    Views {
        default_view: json!({
            "type": "list", "perPage": 20, "sort": {"field": "title", "direction": "asc"}, "titleField": "title",
            "mediaField": "featured_media", "fields": ["author", "status"], "filters": [], "showLevels": true,
        }),
        default_layouts: json!({"table": aligned(), "grid": {}, "list": {}}),
        view_list: Value::Array(views),
        form: post_form(),
    }
}

/// Views of patterns: by category, in the order of their names.
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
            placed("excerpt", "panel", "top"),
            placed("post-content-info", "regular", "none"),
            "sync-status".into(),
            "revisions".into(),
        ]),
    }
}

/// A view of the things whose field has this value.
fn only(title: &str, slug: &str, field: &str) -> Value {
    let filter = json!({"field": field, "operator": "is", "value": slug, "isLocked": true});
    json!({"title": title, "slug": slug, "view": {"filters": [filter]}})
}

/// Views of templates: by who made them.
pub(super) fn templates(makers: &[String]) -> Views {
    let mut views = vec![json!({"title": "All templates", "slug": "all"})];
    views.extend(makers.iter().map(|name| only(name, name, "author")));
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
            placed("description", "panel", "top"),
            placed("description_readonly", "regular", "none"),
            placed("last_edited_date", "panel", "none"),
            "revisions".into(),
            "posts_page_title".into(),
            "posts_per_page".into(),
            "default_comment_status".into(),
        ]),
    }
}

/// Views of template parts: by the place that they are for, of which `areas` holds name and label.
pub(super) fn template_parts<'a>(areas: impl Iterator<Item = (&'a str, &'a str)>) -> Views {
    let mut views = vec![json!({"title": "All template parts", "slug": "all-parts"})];
    views.extend(areas.map(|(name, label)| only(label, name, "area")));
    Views {
        default_view: json!({
            "type": "grid", "perPage": 20, "titleField": "title", "mediaField": "preview", "fields": ["author"],
            "filters": [], "layout": {},
        }),
        default_layouts: json!({
            "table": {"layout": {"styles": {"author": {"width": "1%"}}}}, "grid": {"layout": {}},
        }),
        view_list: Value::Array(views),
        form: panel(&[placed("last_edited_date", "panel", "none"), "revisions".into()]),
    }
}
