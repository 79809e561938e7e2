//! Which members of a response are shown in a context. Source: specification, "Context filtering".

use serde_json::{Map, Value};
use svc_php::list::list_shape;

use crate::{
    compile::{Additional, Node, TypeName, Types},
    path::Path,
    run::Run,
    values::is_array,
};

/// Filters data by a schema.
pub(crate) fn filter(node: &Node, data: Value, context: &str) -> Value {
    Filter { run: Run::new(None), context }.filter(node, node.types.get(), data)
}

struct Filter<'c> {
    run: Run<'static>,
    context: &'c str,
}

/// Where the schemas of the data's members are found.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Array,
    Object,
}

impl Filter<'_> {
    // As deep as the schema, which `compile` bounds: data below a member without a schema is not walked.
    fn filter<'s>(&mut self, node: &'s Node, mut types: Types<'s>, mut data: Value) -> Value {
        for branches in [&node.any_of, &node.one_of].into_iter().flatten() {
            if let Some(found) = self.run.first_match(branches, types, &data, &Path::Root("")) {
                let branch = &branches[found];
                data = self.filter(branch, branch.types.or(types), data);
                if matches!(types, Types::Missing) {
                    types = branch.types.get();
                }
            }
        }
        let Some(shape) = shape_of(node, types, &data) else { return data };
        match data {
            Value::Array(items) => self.filter_list(node, shape, items),
            Value::Object(members) => self.filter_map(node, shape, members),
            scalar => scalar,
        }
    }

    fn filter_list(&mut self, node: &Node, shape: Shape, items: Vec<Value>) -> Value {
        if shape == Shape::Object {
            // A list looked at as an object has its indexes for names.
            let members = items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect();
            return list_shape(self.filter_map(node, shape, members));
        }
        let Some(schema) = item_schema(node) else { return Value::Array(items) };
        match self.shows(schema) {
            None => Value::Array(items),
            Some(false) => Value::Array(Vec::new()),
            Some(true) => Value::Array(items.into_iter().map(|item| self.below(schema, item)).collect()),
        }
    }

    fn filter_map(&mut self, node: &Node, shape: Shape, members: Map<String, Value>) -> Value {
        if members.is_empty() {
            return Value::Object(members);
        }
        let mut members = members;
        members.retain(|name, member| {
            let schema = match shape {
                Shape::Array => item_schema(node),
                Shape::Object => self.member_schema(node, name),
            };
            let Some(schema) = schema else { return true };
            match self.shows(schema) {
                None => true,
                Some(false) => false,
                Some(true) => {
                    *member = self.below(schema, std::mem::take(member));
                    true
                }
            }
        });
        if members.is_empty() { Value::Array(Vec::new()) } else { Value::Object(members) }
    }

    fn below(&mut self, schema: &Node, value: Value) -> Value {
        match value {
            Value::Array(_) | Value::Object(_) => self.filter(schema, schema.types.get(), value),
            scalar => scalar,
        }
    }

    /// Whether a schema is shown in the context; `None` when it does not say.
    fn shows(&self, schema: &Node) -> Option<bool> {
        schema.context.as_ref().map(|contexts| contexts.iter().any(|c| **c == *self.context))
    }

    fn member_schema<'s>(&mut self, node: &'s Node, name: &str) -> Option<&'s Node> {
        let rules = node.object.as_deref()?;
        if let Some(schema) = rules.properties.get(name) {
            return Some(schema);
        }
        if let Some((_, schema)) = rules.patterns.iter().find(|(pattern, _)| self.run.matches(pattern, name)) {
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

/// How the schema looks at the data; `None` when it says nothing of members.
fn shape_of(node: &Node, types: Types<'_>, data: &Value) -> Option<Shape> {
    let lists = |wanted: &TypeName| match types {
        Types::One(name) => name == wanted,
        Types::Many(names) => names.contains(wanted),
        Types::Missing => *wanted == TypeName::Object && node.has_properties,
    };
    match (lists(&TypeName::Array), lists(&TypeName::Object)) {
        (true, true) if is_array(data) => Some(Shape::Array),
        (true, false) => Some(Shape::Array),
        (_, true) => Some(Shape::Object),
        (false, false) => None,
    }
}
