//! Builders for schemas: a function for each type, a method for each keyword.
//!
//! Keywords are listed in the order of the calls, with the description before the type. [`SchemaBuilder::first`] and
//! [`SchemaBuilder::last`] move keywords where WordPress lists them elsewhere.
//!
//! A builder is its source JSON and validates nothing: [`Schema::compile`] accepts any JSON.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::Schema;

/// Builds a schema.
///
/// ```
/// use svc_schema::build::{array, integer, object, string};
/// let schema = object([
///     ("title", string().required().max_length(80)),
///     ("tags", array(integer().minimum(1)).unique_items()),
/// ]);
/// assert!(schema.compile().validate(&serde_json::json!({"title": "Hello", "tags": "1,2"}), "post").is_ok());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaBuilder(Value);

/// An integer.
pub fn integer() -> SchemaBuilder {
    of_type("integer")
}

/// A string.
pub fn string() -> SchemaBuilder {
    of_type("string")
}

/// A number.
pub fn number() -> SchemaBuilder {
    of_type("number")
}

/// A boolean.
pub fn boolean() -> SchemaBuilder {
    of_type("boolean")
}

/// Null only.
pub fn null() -> SchemaBuilder {
    of_type("null")
}

/// A list whose items match one schema.
pub fn array(items: impl Into<Value>) -> SchemaBuilder {
    of_type("array").keyword("items", items)
}

/// An object with these properties. Without any, the keyword `properties` is left out.
pub fn object<N: Into<String>, S: Into<Value>>(properties: impl IntoIterator<Item = (N, S)>) -> SchemaBuilder {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.into(), schema.into())).collect();
    if properties.is_empty() { of_type("object") } else { of_type("object").keyword("properties", properties) }
}

/// A value that matches at least one of these schemas.
pub fn any_of<S: Into<Value>>(schemas: impl IntoIterator<Item = S>) -> SchemaBuilder {
    untyped().keyword("anyOf", list(schemas))
}

/// A value that matches exactly one of these schemas.
pub fn one_of_schemas<S: Into<Value>>(schemas: impl IntoIterator<Item = S>) -> SchemaBuilder {
    untyped().keyword("oneOf", list(schemas))
}

/// A value of the first of these types that accepts it.
pub fn types<'a>(names: impl IntoIterator<Item = &'a str>) -> SchemaBuilder {
    untyped().keyword("type", list(names))
}

/// A schema without a type.
pub fn untyped() -> SchemaBuilder {
    SchemaBuilder(Value::Object(Map::new()))
}

fn of_type(name: &str) -> SchemaBuilder {
    untyped().keyword("type", name)
}

fn list<S: Into<Value>>(items: impl IntoIterator<Item = S>) -> Value {
    Value::Array(items.into_iter().map(Into::into).collect())
}

impl SchemaBuilder {
    /// Sets any keyword. If it is already set, it keeps its position and gets the new value.
    #[must_use]
    pub fn keyword(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Value::Object(map) = &mut self.0 {
            map.insert(name.to_owned(), value.into());
        }
        self
    }

    /// `description`, for documentation. It is listed before the type.
    #[must_use]
    pub fn describe(self, text: &str) -> Self {
        self.keyword("description", text).first(&["title", "description"])
    }

    /// `title`, used in error messages of combined schemas. It is listed before the description.
    #[must_use]
    pub fn title(self, text: &str) -> Self {
        self.keyword("title", text).first(&["title"])
    }

    /// `context`: the contexts in which the property is visible.
    #[must_use]
    pub fn context(self, contexts: &[&str]) -> Self {
        self.keyword("context", list(contexts.iter().copied()))
    }

    /// `readonly`: the property cannot be set and results in no argument.
    #[must_use]
    pub fn readonly(self) -> Self {
        self.keyword("readonly", true)
    }

    /// `required`, as a flag of this property.
    #[must_use]
    pub fn required(self) -> Self {
        self.keyword("required", true)
    }

    /// `default`.
    #[must_use]
    pub fn default(self, value: impl Into<Value>) -> Self {
        self.keyword("default", value)
    }

    /// `enum`: the allowed values.
    #[must_use]
    pub fn one_of<S: Into<Value>>(self, values: impl IntoIterator<Item = S>) -> Self {
        self.keyword("enum", list(values))
    }

    /// `format`.
    #[must_use]
    pub fn format(self, name: &str) -> Self {
        self.keyword("format", name)
    }

    /// `pattern`: a regular expression that must match somewhere in the string.
    #[must_use]
    pub fn pattern(self, pattern: &str) -> Self {
        self.keyword("pattern", pattern)
    }

    /// `minimum`, inclusive unless `exclusiveMinimum` is set.
    #[must_use]
    pub fn minimum(self, bound: impl Into<Value>) -> Self {
        self.keyword("minimum", bound)
    }

    /// `maximum`, inclusive unless `exclusiveMaximum` is set.
    #[must_use]
    pub fn maximum(self, bound: impl Into<Value>) -> Self {
        self.keyword("maximum", bound)
    }

    /// `minimum` and `maximum`.
    #[must_use]
    pub fn range<N: Into<Value> + Copy>(self, bounds: RangeInclusive<N>) -> Self {
        self.minimum(*bounds.start()).maximum(*bounds.end())
    }

    /// `multipleOf`.
    #[must_use]
    pub fn multiple_of(self, divisor: impl Into<Value>) -> Self {
        self.keyword("multipleOf", divisor)
    }

    /// `minLength`, in characters.
    #[must_use]
    pub fn min_length(self, n_chars: usize) -> Self {
        self.keyword("minLength", n_chars)
    }

    /// `maxLength`, in characters.
    #[must_use]
    pub fn max_length(self, n_chars: usize) -> Self {
        self.keyword("maxLength", n_chars)
    }

    /// `minItems`.
    #[must_use]
    pub fn min_items(self, n_items: usize) -> Self {
        self.keyword("minItems", n_items)
    }

    /// `maxItems`.
    #[must_use]
    pub fn max_items(self, n_items: usize) -> Self {
        self.keyword("maxItems", n_items)
    }

    /// `uniqueItems`.
    #[must_use]
    pub fn unique_items(self) -> Self {
        self.keyword("uniqueItems", true)
    }

    /// `additionalProperties`: false, or the schema of properties that are not listed.
    #[must_use]
    pub fn additional_properties(self, rule: impl Into<Value>) -> Self {
        self.keyword("additionalProperties", rule)
    }

    /// `patternProperties`: schemas of properties whose names match a pattern.
    #[must_use]
    pub fn pattern_properties<N: Into<String>, S: Into<Value>>(self, rules: impl IntoIterator<Item = (N, S)>) -> Self {
        let rules: Map<String, Value> = rules.into_iter().map(|(name, schema)| (name.into(), schema.into())).collect();
        self.keyword("patternProperties", rules)
    }

    /// `arg_options`: merged into the argument derived from this property.
    #[must_use]
    pub fn arg_options(self, options: impl Into<Value>) -> Self {
        self.keyword("arg_options", options)
    }

    /// Moves these keywords to the beginning, in this order. Keywords that are not set are ignored.
    #[must_use]
    pub fn first(mut self, names: &[&str]) -> Self {
        if let Value::Object(map) = &mut self.0 {
            for name in names.iter().rev() {
                if let Some(value) = map.shift_remove(*name) {
                    map.shift_insert(0, (*name).to_owned(), value);
                }
            }
        }
        self
    }

    /// Moves these keywords to the end, in this order. Keywords that are not set are ignored.
    #[must_use]
    pub fn last(mut self, names: &[&str]) -> Self {
        if let Value::Object(map) = &mut self.0 {
            for name in names {
                if let Some(value) = map.shift_remove(*name) {
                    map.insert((*name).to_owned(), value);
                }
            }
        }
        self
    }

    /// The source JSON.
    pub fn source(&self) -> &Value {
        &self.0
    }

    /// Compiles the schema.
    pub fn compile(self) -> Schema {
        Schema::compile(self.0)
    }
}

impl From<SchemaBuilder> for Value {
    fn from(builder: SchemaBuilder) -> Value {
        builder.0
    }
}

impl From<SchemaBuilder> for Schema {
    fn from(builder: SchemaBuilder) -> Schema {
        builder.compile()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_are_in_the_order_of_the_calls_with_the_description_first() {
        let schema = string().context(&["view", "edit"]).describe("d").default("x").describe("e");
        let text = |schema: &SchemaBuilder| schema.source().to_string();
        assert_eq!(text(&schema), r#"{"description":"e","type":"string","context":["view","edit"],"default":"x"}"#);
        let schema = schema.first(&["default", "type", "minimum"]).last(&["context", "minimum", "description"]);
        assert_eq!(text(&schema), r#"{"default":"x","type":"string","context":["view","edit"],"description":"e"}"#);
    }

    #[test]
    fn types_and_combinations_nest() {
        assert_eq!(array(integer()).source(), &json!({"type": "array", "items": {"type": "integer"}}));
        assert_eq!(types(["string", "null"]).source(), &json!({"type": ["string", "null"]}));
        assert_eq!(
            any_of([string(), object([("a", null())])]).source(),
            &json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "null"}}}]})
        );
        assert_eq!(integer().range(1..=100).source(), &json!({"type": "integer", "minimum": 1, "maximum": 100}));
    }
}
