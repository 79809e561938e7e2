//! Compiles source JSON to typed nodes. Never fails, because the REST API accepts any schema.
//!
//! Keywords with unusable values are ignored, except for an invalid `type`, which is reported when the schema is used.

use std::borrow::Cow;

use serde_json::{Map, Value};
use svc_php::{
    cast::{to_text, truthy},
    numeric::{Num, number},
};

use crate::{formats::Format, pattern::Pattern, property_map::PropertyMap};

/// Maximum nesting of schemas. Deeper sub-schemas accept any value. This bounds every recursion in this crate.
pub(crate) const MAX_DEPTH: usize = 64;

/// A name in `type`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TypeName {
    Array,
    Object,
    String,
    Number,
    Integer,
    Boolean,
    Null,
    /// A name that is not a built-in type.
    Other(Box<str>),
}

impl TypeName {
    fn read(source: &Value) -> Self {
        match &*to_text(source) {
            _ if !source.is_string() => TypeName::Other(to_text(source).into()),
            "array" => TypeName::Array,
            "object" => TypeName::Object,
            "string" => TypeName::String,
            "number" => TypeName::Number,
            "integer" => TypeName::Integer,
            "boolean" => TypeName::Boolean,
            "null" => TypeName::Null,
            other => TypeName::Other(other.into()),
        }
    }

    /// The name as written in the source.
    pub(crate) fn name(&self) -> &str {
        match self {
            TypeName::Array => "array",
            TypeName::Object => "object",
            TypeName::String => "string",
            TypeName::Number => "number",
            TypeName::Integer => "integer",
            TypeName::Boolean => "boolean",
            TypeName::Null => "null",
            TypeName::Other(name) => name,
        }
    }

    /// Whether it is not a built-in type.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, TypeName::Other(_))
    }
}

/// The `type` keyword.
#[derive(Clone, Debug, Default)]
pub(crate) enum TypeSlot {
    #[default]
    Missing,
    One(TypeName),
    Many(Box<[TypeName]>),
}

/// The types to evaluate a value with: those of its schema or of the enclosing one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SchemaTypes<'s> {
    Missing,
    One(&'s TypeName),
    Many(&'s [TypeName]),
}

impl TypeSlot {
    pub(crate) fn get(&self) -> SchemaTypes<'_> {
        match self {
            TypeSlot::Missing => SchemaTypes::Missing,
            TypeSlot::One(name) => SchemaTypes::One(name),
            TypeSlot::Many(names) => SchemaTypes::Many(names),
        }
    }

    /// The schema's own type, otherwise that of the enclosing schema.
    pub(crate) fn or<'s>(&'s self, inherited: SchemaTypes<'s>) -> SchemaTypes<'s> {
        match self {
            TypeSlot::Missing => inherited,
            own => own.get(),
        }
    }
}

/// A bound of a number or a count, with its source.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) source: Value,
    pub(crate) number: Option<Num>,
}

/// The rule for properties that are not listed.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    #[default]
    Any,
    Forbidden,
    Schema(Node),
}

/// Keywords for objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    /// `required` as a list. If it is present, `required` flags of properties are ignored.
    pub(crate) required: Option<Box<[Box<str>]>>,
    /// Properties with `required: true`.
    pub(crate) marked_required: Box<[Box<str>]>,
    pub(crate) properties: PropertyMap<Node>,
    pub(crate) patterns: Box<[(Pattern, Node)]>,
    pub(crate) additional: Additional,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
}

/// Keywords for arrays.
#[derive(Debug, Default)]
pub(crate) struct ArrayRules {
    pub(crate) items: Option<Node>,
    /// Whether `items` is an empty schema, which validation uses and sanitizing skips.
    pub(crate) items_empty: bool,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) unique: bool,
}

/// Keywords for numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    pub(crate) multiple_of: Option<Bound>,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) min_exclusive: bool,
    pub(crate) max_exclusive: bool,
}

/// Keywords for strings.
#[derive(Debug, Default)]
pub(crate) struct TextRules {
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) pattern: Option<Pattern>,
}

/// A schema or sub-schema. The keyword groups are boxed because most schemas use few of them.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) types: TypeSlot,
    pub(crate) title: Option<Box<str>>,
    pub(crate) format: Option<Format>,
    pub(crate) values: Box<[Value]>,
    pub(crate) object: Option<Box<ObjectRules>>,
    pub(crate) array: Option<Box<ArrayRules>>,
    pub(crate) number: Option<Box<NumberRules>>,
    pub(crate) text: Option<Box<TextRules>>,
    pub(crate) any_of: Option<Box<[Node]>>,
    pub(crate) one_of: Option<Box<[Node]>>,
    pub(crate) context: Option<Box<[Box<str>]>>,
    /// Whether `anyOf`, `oneOf`, `enum` and `format` are all absent.
    pub(crate) has_only_type_rules: bool,
    /// Whether `properties` is present, which matters for schemas without a type.
    pub(crate) has_properties: bool,
}

impl Node {
    /// Whether a string may be split into a list.
    pub(crate) fn may_be_list(&self) -> bool {
        let is_list = |name: &TypeName| *name == TypeName::Array;
        let own = match &self.types {
            TypeSlot::Missing => false,
            TypeSlot::One(name) => is_list(name),
            TypeSlot::Many(names) => names.iter().any(is_list),
        };
        own || self.any_of.iter().chain(&self.one_of).flatten().any(Node::may_be_list)
    }
}

/// Compiles a schema.
pub(crate) fn compile(source: &Value) -> Node {
    node(source, MAX_DEPTH)
}

fn node(source: &Value, depth_left: usize) -> Node {
    let Value::Object(map) = source else { return Node::default() };
    if depth_left == 0 {
        return Node::default();
    }
    let keywords = Keywords(map);
    let list_of_nodes = |name: &str| -> Option<Box<[Node]>> {
        let branches = entries(keywords.get(name)?);
        Some(branches.map(|(_, branch)| node(branch, depth_left - 1)).collect())
    };
    let compiled = Node {
        types: keywords.get("type").map_or(TypeSlot::Missing, type_slot),
        title: keywords.get("title").filter(|t| svc_php::cast::is_scalar(t)).map(|t| to_text(t).into()),
        format: keywords.get("format").and_then(Value::as_str).and_then(Format::from_name),
        values: keywords.get("enum").map(|v| entries(v).map(|(_, v)| v.clone()).collect()).unwrap_or_default(),
        object: object_rules(keywords, depth_left).map(Box::new),
        array: array_rules(keywords, depth_left).map(Box::new),
        number: number_rules(keywords).map(Box::new),
        text: text_rules(keywords).map(Box::new),
        any_of: list_of_nodes("anyOf"),
        one_of: list_of_nodes("oneOf"),
        context: keywords.get("context").map(strings),
        has_only_type_rules: false,
        has_properties: keywords.get("properties").is_some(),
    };
    let has_only_type_rules = compiled.any_of.is_none()
        && compiled.one_of.is_none()
        && compiled.values.is_empty()
        && compiled.format.is_none();
    Node { has_only_type_rules, ..compiled }
}

/// The keywords of a schema. A null value counts as absent.
#[derive(Clone, Copy)]
struct Keywords<'a>(&'a Map<String, Value>);

impl<'a> Keywords<'a> {
    fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|v| !v.is_null())
    }

    fn truthy(self, name: &str) -> bool {
        self.get(name).is_some_and(truthy)
    }

    fn bound(self, name: &str) -> Option<Bound> {
        self.get(name).map(|source| Bound { source: source.clone(), number: number(source) })
    }

    fn has_any(self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }
}

fn type_slot(source: &Value) -> TypeSlot {
    match source {
        Value::Array(_) | Value::Object(_) => TypeSlot::Many(entries(source).map(|(_, v)| TypeName::read(v)).collect()),
        one => TypeSlot::One(TypeName::read(one)),
    }
}

fn object_rules(keywords: Keywords<'_>, depth_left: usize) -> Option<ObjectRules> {
    const NAMES: [&str; 6] =
        ["required", "properties", "patternProperties", "additionalProperties", "minProperties", "maxProperties"];
    if !keywords.has_any(&NAMES) {
        return None;
    }
    let properties = || keywords.get("properties").into_iter().flat_map(entries);
    let is_marked = |schema: &Value| schema.get("required") == Some(&Value::Bool(true));
    let patterns = keywords.get("patternProperties").into_iter().flat_map(entries);
    Some(ObjectRules {
        required: keywords.get("required").filter(|r| r.is_array() || r.is_object()).map(strings),
        marked_required: properties().filter(|(_, s)| is_marked(s)).map(|(name, _)| name.into()).collect(),
        properties: properties()
            .filter(|(_, schema)| !schema.is_null())
            .map(|(name, schema)| (name.into(), node(schema, depth_left - 1)))
            .collect(),
        patterns: patterns.map(|(name, schema)| (Pattern::compile(&name), node(schema, depth_left - 1))).collect(),
        additional: match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) => Additional::Forbidden,
            Some(schema @ (Value::Object(_) | Value::Array(_))) => Additional::Schema(node(schema, depth_left - 1)),
            _ => Additional::Any,
        },
        min: keywords.bound("minProperties"),
        max: keywords.bound("maxProperties"),
    })
}

fn array_rules(keywords: Keywords<'_>, depth_left: usize) -> Option<ArrayRules> {
    if !keywords.has_any(&["items", "minItems", "maxItems", "uniqueItems"]) {
        return None;
    }
    Some(ArrayRules {
        items: keywords.get("items").map(|items| node(items, depth_left - 1)),
        items_empty: !keywords.truthy("items"),
        min: keywords.bound("minItems"),
        max: keywords.bound("maxItems"),
        unique: keywords.truthy("uniqueItems"),
    })
}

fn number_rules(keywords: Keywords<'_>) -> Option<NumberRules> {
    if !keywords.has_any(&["multipleOf", "minimum", "maximum"]) {
        return None;
    }
    Some(NumberRules {
        multiple_of: keywords.bound("multipleOf"),
        min: keywords.bound("minimum"),
        max: keywords.bound("maximum"),
        min_exclusive: keywords.truthy("exclusiveMinimum"),
        max_exclusive: keywords.truthy("exclusiveMaximum"),
    })
}

fn text_rules(keywords: Keywords<'_>) -> Option<TextRules> {
    if !keywords.has_any(&["minLength", "maxLength", "pattern"]) {
        return None;
    }
    Some(TextRules {
        min: keywords.bound("minLength"),
        max: keywords.bound("maxLength"),
        pattern: keywords.get("pattern").map(|p| Pattern::compile(&to_text(p))),
    })
}

/// The entries of a list or object, by key; empty for other values.
fn entries(value: &Value) -> Box<dyn Iterator<Item = (Cow<'_, str>, &Value)> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter().enumerate().map(|(i, v)| (Cow::Owned(i.to_string()), v))),
        Value::Object(map) => Box::new(map.iter().map(|(k, v)| (Cow::Borrowed(k.as_str()), v))),
        _ => Box::new(std::iter::empty()),
    }
}

fn strings(value: &Value) -> Box<[Box<str>]> {
    entries(value).map(|(_, v)| to_text(v).into()).collect()
}
