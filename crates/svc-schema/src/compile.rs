//! From source JSON to typed slots, once; never fails, as the interface tolerates any schema.
//!
//! Keywords whose value is unusable are left out, except a faulty `type`, which is kept to be told of when used.

use std::borrow::Cow;

use serde_json::{Map, Value};
use svc_php::{
    cast::{to_text, truthy},
    numeric::{Num, number},
};

use crate::{formats::Format, pattern::Pattern, property_map::PropertyMap};

/// The deepest nesting of schemas that is followed; what lies deeper takes any value. It bounds every recursion here.
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
    /// A name outside the allowed list.
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

    /// The name as it was written.
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

    /// Whether it is outside the allowed list.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, TypeName::Other(_))
    }
}

/// The keyword `type`.
#[derive(Clone, Debug, Default)]
pub(crate) enum TypeSlot {
    #[default]
    Missing,
    One(TypeName),
    Many(Box<[TypeName]>),
}

/// The type a value is looked at with: that of its schema, an inherited one, or the best of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Types<'s> {
    Missing,
    One(&'s TypeName),
    Many(&'s [TypeName]),
}

impl TypeSlot {
    pub(crate) fn get(&self) -> Types<'_> {
        match self {
            TypeSlot::Missing => Types::Missing,
            TypeSlot::One(name) => Types::One(name),
            TypeSlot::Many(names) => Types::Many(names),
        }
    }

    /// The own type, or else the one of the schema around.
    pub(crate) fn or<'s>(&'s self, inherited: Types<'s>) -> Types<'s> {
        match self {
            TypeSlot::Missing => inherited,
            own => own.get(),
        }
    }
}

/// A bound of a number or a count, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) source: Value,
    pub(crate) number: Option<Num>,
}

/// What happens to members that nothing names.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    #[default]
    Any,
    Forbidden,
    Schema(Node),
}

/// Keywords of objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    /// `required` as a list; when it is there, marks on members do not count.
    pub(crate) required: Option<Box<[Box<str>]>>,
    /// Members marked `required: true`.
    pub(crate) marked_required: Box<[Box<str>]>,
    pub(crate) properties: PropertyMap,
    pub(crate) patterns: Box<[(Pattern, Node)]>,
    pub(crate) additional: Additional,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
}

/// Keywords of arrays.
#[derive(Debug, Default)]
pub(crate) struct ArrayRules {
    pub(crate) items: Option<Node>,
    /// `items` is an empty schema: it is followed when validating, and skipped when sanitizing.
    pub(crate) items_empty: bool,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) unique: bool,
}

/// Keywords of numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    pub(crate) multiple_of: Option<Bound>,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) min_exclusive: bool,
    pub(crate) max_exclusive: bool,
}

/// Keywords of texts.
#[derive(Debug, Default)]
pub(crate) struct TextRules {
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) pattern: Option<Pattern>,
}

/// A schema or sub-schema. The keyword groups are boxed, as most schemas have few of them.
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
    /// Whether none of `anyOf`, `oneOf`, `enum` and `format` is there.
    pub(crate) has_only_type_rules: bool,
    /// Whether `properties` is there at all, for schemas without a type.
    pub(crate) has_properties: bool,
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
    let given = Keywords(map);
    let list_of_nodes = |name: &str| -> Option<Box<[Node]>> {
        let branches = members(given.get(name)?);
        Some(branches.map(|(_, branch)| node(branch, depth_left - 1)).collect())
    };
    let compiled = Node {
        types: given.get("type").map_or(TypeSlot::Missing, type_slot),
        title: given.get("title").filter(|t| svc_php::cast::is_scalar(t)).map(|t| to_text(t).into()),
        format: given.get("format").and_then(Value::as_str).and_then(Format::from_name),
        values: given.get("enum").map(|v| members(v).map(|(_, v)| v.clone()).collect()).unwrap_or_default(),
        object: object_rules(given, depth_left).map(Box::new),
        array: array_rules(given, depth_left).map(Box::new),
        number: number_rules(given).map(Box::new),
        text: text_rules(given).map(Box::new),
        any_of: list_of_nodes("anyOf"),
        one_of: list_of_nodes("oneOf"),
        context: given.get("context").map(texts),
        has_only_type_rules: false,
        has_properties: given.get("properties").is_some(),
    };
    let has_only_type_rules = compiled.any_of.is_none()
        && compiled.one_of.is_none()
        && compiled.values.is_empty()
        && compiled.format.is_none();
    Node { has_only_type_rules, ..compiled }
}

/// The keywords of a schema; one whose value is null is not there.
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
        Value::Array(_) | Value::Object(_) => TypeSlot::Many(members(source).map(|(_, v)| TypeName::read(v)).collect()),
        one => TypeSlot::One(TypeName::read(one)),
    }
}

fn object_rules(given: Keywords<'_>, depth_left: usize) -> Option<ObjectRules> {
    const NAMES: [&str; 6] =
        ["required", "properties", "patternProperties", "additionalProperties", "minProperties", "maxProperties"];
    if !given.has_any(&NAMES) {
        return None;
    }
    let properties = || given.get("properties").into_iter().flat_map(members);
    let is_marked = |schema: &Value| schema.get("required") == Some(&Value::Bool(true));
    let patterns = given.get("patternProperties").into_iter().flat_map(members);
    Some(ObjectRules {
        required: given.get("required").filter(|r| r.is_array() || r.is_object()).map(texts),
        marked_required: properties().filter(|(_, s)| is_marked(s)).map(|(name, _)| name.into()).collect(),
        properties: properties()
            .filter(|(_, schema)| !schema.is_null())
            .map(|(name, schema)| (name.into(), node(schema, depth_left - 1)))
            .collect(),
        patterns: patterns.map(|(name, schema)| (Pattern::compile(&name), node(schema, depth_left - 1))).collect(),
        additional: match given.get("additionalProperties") {
            Some(Value::Bool(false)) => Additional::Forbidden,
            Some(schema @ (Value::Object(_) | Value::Array(_))) => Additional::Schema(node(schema, depth_left - 1)),
            _ => Additional::Any,
        },
        min: given.bound("minProperties"),
        max: given.bound("maxProperties"),
    })
}

fn array_rules(given: Keywords<'_>, depth_left: usize) -> Option<ArrayRules> {
    if !given.has_any(&["items", "minItems", "maxItems", "uniqueItems"]) {
        return None;
    }
    Some(ArrayRules {
        items: given.get("items").map(|items| node(items, depth_left - 1)),
        items_empty: !given.truthy("items"),
        min: given.bound("minItems"),
        max: given.bound("maxItems"),
        unique: given.truthy("uniqueItems"),
    })
}

fn number_rules(given: Keywords<'_>) -> Option<NumberRules> {
    if !given.has_any(&["multipleOf", "minimum", "maximum"]) {
        return None;
    }
    Some(NumberRules {
        multiple_of: given.bound("multipleOf"),
        min: given.bound("minimum"),
        max: given.bound("maximum"),
        min_exclusive: given.truthy("exclusiveMinimum"),
        max_exclusive: given.truthy("exclusiveMaximum"),
    })
}

fn text_rules(given: Keywords<'_>) -> Option<TextRules> {
    if !given.has_any(&["minLength", "maxLength", "pattern"]) {
        return None;
    }
    Some(TextRules {
        min: given.bound("minLength"),
        max: given.bound("maxLength"),
        pattern: given.get("pattern").map(|p| Pattern::compile(&to_text(p))),
    })
}

/// The members of a list or map, by key; of anything else, none.
fn members(value: &Value) -> Box<dyn Iterator<Item = (Cow<'_, str>, &Value)> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter().enumerate().map(|(i, v)| (Cow::Owned(i.to_string()), v))),
        Value::Object(map) => Box::new(map.iter().map(|(k, v)| (Cow::Borrowed(k.as_str()), v))),
        _ => Box::new(std::iter::empty()),
    }
}

fn texts(value: &Value) -> Box<[Box<str>]> {
    members(value).map(|(_, v)| to_text(v).into()).collect()
}
