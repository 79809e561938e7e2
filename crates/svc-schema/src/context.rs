//! Selects the fields of a response that are visible in a context. Source: specification, "Context filtering".

use serde_json::{Map, Value};
use svc_php::list::list_shape;

use crate::{
    compile::{Additional, Node, SchemaTypes, TypeName},
    evaluation::Evaluation,
    path::Path,
    values::is_array,
};

/// Filters data by a schema and context.
pub(crate) fn filter(node: &Node, data: Value, context: &str) -> Value {
    ContextFilter { evaluation: Evaluation::new(None), context }.filter(node, node.types.get(), data)
}

struct ContextFilter<'c> {
    evaluation: Evaluation<'static>,
    context: &'c str,
}

/// Which keyword has the schemas of the data's entries.
#[derive(Clone, Copy, PartialEq)]
enum EntrySchemas {
    Array,
    Object,
}

impl ContextFilter<'_> {
    // The recursion is as deep as the schema, which `compile` bounds: data without a schema is not visited.
    fn filter<'s>(&mut self, node: &'s Node, mut types: SchemaTypes<'s>, mut data: Value) -> Value {
        for branches in [&node.any_of, &node.one_of].into_iter().flatten() {
            if let Some(found) = self.evaluation.first_match(branches, types, &data, &Path::Root("")) {
                let branch = &branches[found];
                data = self.filter(branch, branch.types.or(types), data);
                if matches!(types, SchemaTypes::Missing) {
                    types = branch.types.get();
                }
            }
        }
        let Some(entry_schemas) = entry_schemas_of(node, types, &data) else { return data };
        match data {
            Value::Array(items) => self.filter_list(node, entry_schemas, items),
            Value::Object(entries) => self.filter_map(node, entry_schemas, entries),
            scalar => scalar,
        }
    }

    fn filter_list(&mut self, node: &Node, entry_schemas: EntrySchemas, items: Vec<Value>) -> Value {
        if entry_schemas == EntrySchemas::Object {
            // A list evaluated as an object uses its indexes as names.
            let entries = items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect();
            return list_shape(self.filter_map(node, entry_schemas, entries));
        }
        let Some(schema) = item_schema(node) else { return Value::Array(items) };
        match self.is_visible(schema) {
            None => Value::Array(items),
            Some(false) => Value::Array(Vec::new()),
            Some(true) => Value::Array(items.into_iter().map(|item| self.filter_nested(schema, item)).collect()),
        }
    }

    fn filter_map(&mut self, node: &Node, entry_schemas: EntrySchemas, entries: Map<String, Value>) -> Value {
        if entries.is_empty() {
            return Value::Object(entries);
        }
        let mut entries = entries;
        entries.retain(|name, entry| {
            let schema = match entry_schemas {
                EntrySchemas::Array => item_schema(node),
                EntrySchemas::Object => self.property_schema(node, name),
            };
            let Some(schema) = schema else { return true };
            match self.is_visible(schema) {
                None => true,
                Some(false) => false,
                Some(true) => {
                    *entry = self.filter_nested(schema, std::mem::take(entry));
                    true
                }
            }
        });
        if entries.is_empty() { Value::Array(Vec::new()) } else { Value::Object(entries) }
    }

    fn filter_nested(&mut self, schema: &Node, value: Value) -> Value {
        match value {
            Value::Array(_) | Value::Object(_) => self.filter(schema, schema.types.get(), value),
            scalar => scalar,
        }
    }

    /// Whether a schema is visible in the context; `None` if it has no `context`.
    fn is_visible(&self, schema: &Node) -> Option<bool> {
        schema.context.as_ref().map(|contexts| contexts.iter().any(|c| **c == *self.context))
    }

    fn property_schema<'s>(&mut self, node: &'s Node, name: &str) -> Option<&'s Node> {
        let rules = node.object.as_deref()?;
        if let Some(schema) = rules.properties.get(name) {
            return Some(schema);
        }
        if let Some((_, schema)) = rules.patterns.iter().find(|(pattern, _)| self.evaluation.matches(pattern, name)) {
            return Some(schema);
        }
        match &rules.additional {
            Additional::Schema(schema) => Some(schema),
            Additional::Any | Additional::Forbidden => None,
        }
    }
}

fn item_schema(node: &Node) -> Option<&Node> {
    node.array.as_deref()?.items.as_ref()
}

/// How the schema describes the data's entries; `None` if it does not.
fn entry_schemas_of(node: &Node, types: SchemaTypes<'_>, data: &Value) -> Option<EntrySchemas> {
    let has_type = |type_name: &TypeName| match types {
        SchemaTypes::One(name) => name == type_name,
        SchemaTypes::Many(names) => names.contains(type_name),
        SchemaTypes::Missing => *type_name == TypeName::Object && node.has_properties,
    };
    match (has_type(&TypeName::Array), has_type(&TypeName::Object)) {
        (true, true) if is_array(data) => Some(EntrySchemas::Array),
        (true, false) => Some(EntrySchemas::Array),
        (_, true) => Some(EntrySchemas::Object),
        (false, false) => None,
    }
}
