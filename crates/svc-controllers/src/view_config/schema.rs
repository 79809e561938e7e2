//! JSON schemas of views and forms.

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

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn size() -> Value {
    json!({"type": ["string", "number"]})
}

fn density() -> Value {
    one_of(&["compact", "balanced", "comfortable"])
}

/// Properties of a table layout.
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

/// Schema of a view with a layout of these properties, optionally with a `type`.
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
    let show_label = json!({"type": "boolean", "default": true});
    let mut properties = json!({
        "type": text(),
        "layout": object(layout),
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
        "groupBy": object(json!({"field": text(), "direction": direction, "showLabel": show_label})),
        "infiniteScrollEnabled": {"type": "boolean"},
    });
    if !with_type && let Some(properties) = properties.as_object_mut() {
        properties.shift_remove("type");
        let layout = properties.shift_remove("layout");
        properties.extend(layout.map(|layout| ("layout".to_owned(), layout)));
    }
    object(properties)
}

/// Adds a description and marks the schema as read-only. Its type is listed before `readonly`, other keywords after it.
fn described(schema: Value, description: &str) -> Value {
    let mut described = json!({"description": description, "type": schema["type"], "readonly": true});
    if let (Some(described), Value::Object(schema)) = (described.as_object_mut(), schema) {
        described.extend(schema);
    }
    described
}

pub(super) fn default_view() -> Value {
    described(view(any_layout(), true), "Initial view of the list.")
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
    described(object(Value::Object(layouts)), "Overrides of the view for each layout type.")
}

pub(super) fn view_list() -> Value {
    let item = json!({"title": text(), "slug": text(), "view": view(any_layout(), true)});
    described(list(object(item)), "Predefined views of the list.")
}

/// Schema of the layout of a form or of a form field.
fn form_layout() -> Value {
    let label = || one_of(&["top", "side", "none"]);
    let texts = || list(text());
    let open_type = one_of(&["dropdown", "modal"]);
    let open_as = json!({"oneOf": [
        open_type,
        object(json!({"type": open_type, "applyLabel": text(), "cancelLabel": text()})),
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
    let properties = json!({"layout": form_layout(), "fields": list(json!({"oneOf": [text(), field]}))});
    described(object(properties), "Form to edit an item.")
}
