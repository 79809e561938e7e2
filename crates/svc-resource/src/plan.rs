//! The fields that a response contains: planned once per request, applied to every item.

use serde_json::{Map, Value};
use svc_schema::FieldSet;

use crate::fields::{Field, Fields};

/// The representation of a resource that a request asks for.
#[derive(Clone, Debug)]
pub struct View {
    /// `view`, `embed` or `edit`.
    pub context: String,
    /// The fields named by `_fields`; `None` for all.
    pub fields: Option<FieldSet>,
    /// Whether `_embed` is among the parameters.
    pub embed: bool,
    /// Whether items carry `_links`, subject to `fields`.
    pub links: bool,
}

impl View {
    /// All fields of this context.
    pub fn all_of(context: &str) -> Self {
        View { context: context.to_owned(), fields: None, embed: false, links: true }
    }

    /// The view restricted to these fields.
    pub fn only(mut self, names: &[&str]) -> Self {
        self.fields = Some(FieldSet::of(names.iter().map(|name| (*name).to_owned()).collect()));
        self
    }

    /// The view without `_links`.
    pub fn without_links(mut self) -> Self {
        self.links = false;
        self
    }

    /// Whether a field with this schema is visible in the view's context.
    pub fn is_visible(&self, schema: &Value) -> bool {
        visible(schema, &self.context)
    }

    /// Whether `_fields` includes this field (specification, "Field selection" 5).
    pub fn includes(&self, name: &str) -> bool {
        self.fields.as_ref().is_none_or(|fields| fields.is_included(name))
    }

    /// Whether `_fields` names exactly this field, or selects everything.
    fn names(&self, name: &str) -> bool {
        self.fields.as_ref().is_none_or(|fields| fields.is_everything() || fields.names().iter().any(|n| n == name))
    }

    /// Whether items carry `_links`, because they are requested or because `_embedded` requires them.
    pub fn wants_links(&self) -> bool {
        self.links && (self.includes("_links") || (self.embed && self.includes("_embedded")))
    }
}

/// The visible fields of a table, in order.
pub struct Plan<'f, I, D> {
    planned_fields: Vec<PlannedField<'f, I, D>>,
}

struct PlannedField<'f, I, D> {
    field: &'f Field<I, D>,
    nested: Vec<PlannedField<'f, I, D>>,
}

impl<I, D> Fields<I, D> {
    /// Selects the fields that are visible in this view.
    pub fn plan(&self, view: &View) -> Plan<'_, I, D> {
        Plan { planned_fields: planned_fields(self.rows(), view, "") }
    }
}

/// Fields without `context` are visible in every context (specification, "Context filtering" 1).
fn visible(schema: &Value, context: &str) -> bool {
    match schema.get("context").and_then(Value::as_array) {
        Some(contexts) => contexts.iter().any(|c| c == context),
        None => true,
    }
}

fn planned_fields<'f, I, D>(rows: &'f [Field<I, D>], view: &View, parent: &str) -> Vec<PlannedField<'f, I, D>> {
    let mut out = Vec::with_capacity(rows.len());
    for field in rows {
        if !field.is_supported || (field.get.is_none() && field.nested.is_empty()) {
            continue;
        }
        let path = if parent.is_empty() { field.name.clone() } else { format!("{parent}.{}", field.name) };
        if view.is_visible(&field.schema) && view.includes(&path) && (!field.exact_field || view.names(&path)) {
            out.push(PlannedField { field, nested: planned_fields(&field.nested, view, &path) });
        }
    }
    out
}

impl<I, D> Plan<'_, I, D> {
    /// Whether this field (`content`, or `content.rendered` for a nested one) is computed.
    pub fn wants(&self, path: &str) -> bool {
        let mut planned_fields = &self.planned_fields;
        let mut found = false;
        for name in path.split('.') {
            let Some(planned) = planned_fields.iter().find(|n| n.field.name == name) else { return false };
            planned_fields = &planned.nested;
            found = true;
        }
        found
    }

    /// Whether any of these fields is computed.
    pub fn wants_any(&self, paths: &[&str]) -> bool {
        paths.iter().any(|path| self.wants(path))
    }

    /// The visible fields of an item.
    pub fn prepare(&self, item: &I) -> Map<String, Value> {
        prepare(&self.planned_fields, item)
    }
}

fn prepare<I, D>(planned_fields: &[PlannedField<'_, I, D>], item: &I) -> Map<String, Value> {
    let mut out = Map::with_capacity(planned_fields.len() + 1);
    for planned in planned_fields {
        if planned.field.when.as_ref().is_some_and(|applies_to| !applies_to(item)) {
            continue;
        }
        let value = match &planned.field.get {
            // An object without visible fields becomes an empty list, as PHP's empty array is encoded.
            _ if !planned.field.nested.is_empty() => match prepare(&planned.nested, item) {
                nested if nested.is_empty() => Value::Array(Vec::new()),
                nested => Value::Object(nested),
            },
            Some(get) => get(item),
            None => continue,
        };
        out.insert(planned.field.name.clone(), value);
    }
    out
}
