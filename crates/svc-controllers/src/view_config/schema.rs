//! Shapes of views and forms, as editors know them.

use serde_json::{Map, Value, json};

fn text() -> Value {
    json!({"type": "string"})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn one_of(names: &[&str]) -> Value {
    json!({"type": "string", "enum": names})
}

fn object(members: Value) -> Value {
    json!({"type": "object", "properties": members})
}

fn size() -> Value {
    json!({"type": ["string", "number"]})
}

fn density() -> Value {
    one_of(&["compact", "balanced", "comfortable"])
}

/// Members of the layout of tables, of grids, and of both.
fn table_layout() -> Value {
    let align = one_of(&["start", "center", "end"]);
    let style = object(json!({"width": size(), "maxWidth": size(), "minWidth": size(), "align": align}));
    json!({
        "styles": {"type": "object", "additionalProperties": style},
        "density": density(),
        "enableMoving": {"type": "boolean"},
    })
}

fn grid_layout() -> Value {
    json!({"badgeFields": list(text()), "previewSize": {"type": "number"}, "density": density()})
}

fn any_layout() -> Value {
    let mut all = table_layout();
    if let (Some(all), Value::Object(grid)) = (all.as_object_mut(), grid_layout()) {
        all.extend(grid);
    }
    all
}

/// A view with a layout of these members; views that may be of any type name theirs.
fn view(layout: Value, with_type: bool) -> Value {
    let operators = one_of(&[
        "is",
        "isNot",
        "isAny",
        "isNone",
        "isAll",
        "isNotAll",
        "lessThan",
        "greaterThan",
        "lessThanOrEqual",
        "greaterThanOrEqual",
        "before",
        "after",
    ]);
    let direction = one_of(&["asc", "desc"]);
    let filter = json!({"field": text(), "operator": operators, "value": [], "isLocked": {"type": "boolean"}});
    let shown = json!({"type": "boolean", "default": true});
    let mut members = json!({
        "filters": list(object(filter)),
        "sort": object(json!({"field": text(), "direction": direction})),
        "perPage": {"type": "integer"},
        "fields": list(text()),
        "titleField": text(),
        "mediaField": text(),
        "descriptionField": text(),
        "showTitle": {"type": "boolean"},
        "showMedia": {"type": "boolean"},
        "showDescription": {"type": "boolean"},
        "showLevels": {"type": "boolean"},
        "groupBy": object(json!({"field": text(), "direction": direction, "showLabel": shown})),
        "infiniteScrollEnabled": {"type": "boolean"},
        "layout": object(layout),
    });
    if with_type && let Some(members) = members.as_object_mut() {
        members.insert("type".to_owned(), text());
    }
    object(members)
}

/// Adds what a member is, and that it is not to be written.
fn described(mut schema: Value, about: &str) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), about.into());
        schema.insert("readonly".to_owned(), true.into());
    }
    schema
}

pub(super) fn default_view() -> Value {
    described(view(any_layout(), true), "The view that a list begins with.")
}

pub(super) fn default_layouts() -> Value {
    let dense = || json!({"density": density()});
    let layouts: Map<String, Value> = [
        ("table", table_layout()),
        ("list", dense()),
        ("grid", grid_layout()),
        ("activity", dense()),
        ("pickerGrid", grid_layout()),
        ("pickerTable", table_layout()),
    ]
    .into_iter()
    .map(|(name, layout)| (name.to_owned(), view(layout, false)))
    .collect();
    described(object(Value::Object(layouts)), "What each layout changes of a view.")
}

pub(super) fn view_list() -> Value {
    let member = json!({"title": text(), "slug": text(), "view": view(any_layout(), true)});
    described(list(object(member)), "Views that are offered by name.")
}

/// The layouts of a form or of a field in it.
fn form_layout() -> Value {
    let label = || one_of(&["top", "side", "none"]);
    let texts = || list(text());
    let opens = one_of(&["dropdown", "modal"]);
    let open_as = json!({"oneOf": [
        opens,
        object(json!({"type": opens, "applyLabel": text(), "cancelLabel": text()})),
    ]});
    let visible = object(json!({"id": text(), "visibility": one_of(&["always", "when-collapsed"])}));
    let flex = object(json!({"flex": size()}));
    json!({"oneOf": [
        object(json!({"type": one_of(&["regular"]), "labelPosition": label()})),
        object(json!({
            "type": one_of(&["panel"]), "labelPosition": label(), "openAs": open_as,
            "summary": {"oneOf": [text(), texts()]}, "editVisibility": one_of(&["always", "on-hover"]),
        })),
        object(json!({
            "type": one_of(&["card"]), "withHeader": {"type": "boolean"}, "isOpened": {"type": "boolean"},
            "isCollapsible": {"type": "boolean"}, "summary": {"oneOf": [text(), list(json!({"oneOf": [text(), visible]}))]},
        })),
        object(json!({
            "type": one_of(&["row"]), "alignment": one_of(&["start", "center", "end"]),
            "styles": {"type": "object", "additionalProperties": flex},
        })),
        object(json!({"type": one_of(&["details"]), "summary": text()})),
    ]})
}

pub(super) fn form() -> Value {
    let child = json!({"oneOf": [text(), {"type": "object"}]});
    let field = object(json!({
        "id": text(), "label": text(), "description": text(), "layout": form_layout(), "children": list(child),
    }));
    let members = json!({"layout": form_layout(), "fields": list(json!({"oneOf": [text(), field]}))});
    described(object(members), "The form that one of them is edited with.")
}
