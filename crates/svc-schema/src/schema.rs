//! A schema: its source JSON and its compiled form.

use std::{fmt, sync::Arc};

use serde_json::Value;

use crate::{
    Error, Notices,
    compile::{Node, compile},
    context::filter,
    evaluation::Evaluation,
    path::Path,
};

/// A compiled schema. Cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    source: Value,
    node: Node,
}

impl Schema {
    /// Compiles a schema. Accepts any JSON: unknown keywords are ignored, and a missing or unknown `type` is reported
    /// as a notice when the schema is used. Sub-schemas nested deeper than 64 levels accept any value.
    pub fn compile(source: Value) -> Schema {
        let node = compile(&source);
        Schema(Arc::new(Compiled { source, node }))
    }

    /// The source, as route descriptions contain it.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    fn node(&self) -> &Node {
        &self.0.node
    }

    /// The `default` keyword; `None` if it is null.
    pub fn default(&self) -> Option<&Value> {
        self.source().get("default").filter(|v| !v.is_null())
    }

    /// Whether a string may be split into a list.
    pub(crate) fn may_be_list(&self) -> bool {
        self.node().may_be_list()
    }

    /// Whether there are validation rules, but neither a type nor sub-schemas.
    pub fn has_rules_without_type(&self) -> bool {
        const RULES: [&str; 16] = [
            "format",
            "enum",
            "items",
            "properties",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "maxProperties",
            "minimum",
            "maximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "minItems",
            "maxItems",
        ];
        let has = |name: &&str| self.source().get(*name).is_some();
        !["type", "anyOf", "oneOf"].iter().any(has) && RULES.iter().any(has)
    }

    /// Whether the `required` keyword is true (not a list).
    pub(crate) fn is_required(&self) -> bool {
        self.source().get("required") == Some(&Value::Bool(true))
    }

    /// Validates a value. `param` is its name in error messages.
    ///
    /// # Errors
    /// The first violated rule, with the message of the specification's table of errors and without a status.
    pub fn validate(&self, value: &Value, param: &str) -> Result<(), Error> {
        Evaluation::new(None).validate(self.node(), value, param)
    }

    /// As [`validate`](Self::validate). For a valid value, also reports whether [`sanitize`](Self::sanitize) would
    /// leave it unchanged. `false` may be wrong, `true` never is.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate).
    pub fn is_sanitized(&self, value: &Value, param: &str) -> Result<bool, Error> {
        let mut evaluation = Evaluation::new(None);
        evaluation.validate(self.node(), value, param)?;
        Ok(!evaluation.may_change)
    }

    /// As [`validate`](Self::validate); collects problems of the schema itself.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate).
    pub fn validate_with(&self, value: &Value, param: &str, notices: &mut Notices) -> Result<(), Error> {
        Evaluation::new(Some(notices)).validate(self.node(), value, param)
    }

    /// Converts a value to the schema's types and formats. Other rules are not validated.
    ///
    /// # Errors
    /// `rest_duplicate_items` if items of a unique list become equal, at any depth, and the errors of `anyOf` and
    /// `oneOf` if the number of matches is wrong.
    pub fn sanitize(&self, value: Value, param: &str) -> Result<Value, Error> {
        Evaluation::new(None).sanitize(self.node(), value, param)
    }

    /// As [`sanitize`](Self::sanitize); collects problems of the schema itself.
    ///
    /// # Errors
    /// Those of [`sanitize`](Self::sanitize).
    pub fn sanitize_with(&self, value: Value, param: &str, notices: &mut Notices) -> Result<Value, Error> {
        Evaluation::new(Some(notices)).sanitize(self.node(), value, param)
    }

    /// As [`sanitize_with`](Self::sanitize_with), but the error of a nested property or item replaces that property or
    /// item, in the form that `replace_error` returns. WordPress does this with its error objects.
    ///
    /// # Errors
    /// The errors of the value itself, not of nested values.
    pub fn sanitize_keeping_errors(
        &self,
        value: Value,
        param: &str,
        notices: &mut Notices,
        replace_error: &mut dyn FnMut(Error) -> Value,
    ) -> Result<Value, Error> {
        let mut evaluation = Evaluation::new(Some(notices));
        evaluation.replace_error = Some(replace_error);
        evaluation.sanitize(self.node(), value, param)
    }

    /// Validates, then sanitizes. Source: specification, "Argument processing", 3.
    ///
    /// # Errors
    /// The errors of either step.
    pub fn parse(&self, value: Value, param: &str) -> Result<Value, Error> {
        if self.is_sanitized(&value, param)? { Ok(value) } else { self.sanitize(value, param) }
    }

    /// Validates the `enum` keyword only: the sanitized value must equal an allowed one.
    ///
    /// # Errors
    /// `rest_not_in_enum`, or a sanitization error.
    pub fn validate_enum(&self, value: &Value, param: &str, notices: &mut Notices) -> Result<(), Error> {
        Evaluation::new(Some(notices)).validate_enum_only(self.node(), value, param)
    }

    /// The index of the first sub-schema of `anyOf` that matches a value.
    ///
    /// # Errors
    /// `rest_no_matching_schema`.
    pub fn find_any_match(&self, value: &Value, param: &str, notices: &mut Notices) -> Result<usize, Error> {
        Evaluation::new(Some(notices)).find_any_index(self.node(), value, param)
    }

    /// The index of the only sub-schema of `oneOf` that matches a value; with `stop_at_first`, of the first one.
    ///
    /// # Errors
    /// `rest_no_matching_schema`, `rest_one_of_multiple_matches`.
    pub fn find_one_match(
        &self,
        value: &Value,
        param: &str,
        stop_at_first: bool,
        notices: &mut Notices,
    ) -> Result<usize, Error> {
        Evaluation::new(Some(notices)).find_one_index(self.node(), value, param, stop_at_first)
    }

    /// The type to evaluate a value with, of those that the schema lists: the first that accepts it, otherwise the
    /// first unknown one, otherwise `None`.
    pub fn best_type(&self, value: &Value, param: &str, notices: &mut Notices) -> Option<&str> {
        Evaluation::new(Some(notices)).best_type_name(self.node(), value, &Path::Root(param))
    }

    /// Removes the fields that are not visible in this context. An object without remaining fields becomes `[]`.
    /// Source: specification, "Context filtering".
    pub fn filter_by_context(&self, data: Value, context: &str) -> Value {
        filter(self.node(), data, context)
    }
}

impl From<Value> for Schema {
    fn from(source: Value) -> Self {
        Schema::compile(source)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.source())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_need_a_type_or_sub_schemas() {
        let rows = [
            (json!({}), false),
            (json!({"description": "d", "default": 1}), false),
            (json!({"minimum": 1}), true),
            (json!({"items": {}}), true),
            (json!({"type": "integer", "minimum": 1}), false),
            (json!({"anyOf": [], "format": "ip"}), false),
            (json!({"oneOf": [], "format": "ip"}), false),
        ];
        for (source, expected) in rows {
            assert_eq!(Schema::compile(source.clone()).has_rules_without_type(), expected, "{source}");
        }
    }

    #[test]
    fn schemas_are_equal_if_their_sources_are() {
        let compile = |minimum: i64| Schema::compile(json!({"type": "integer", "minimum": minimum}));
        assert!(compile(1) == compile(1) && compile(1) != compile(2));
        assert_eq!(format!("{:?}", compile(1)), r#"Schema({"type":"integer","minimum":1})"#);
    }

    #[test]
    fn sanitizing_reports_notices_and_keeps_errors() {
        let mut notices = Notices::new();
        let item = json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true});
        let schema = Schema::compile(json!({"type": "object", "properties": {"a": item, "b": {"enum": [1]}}}));
        let value = json!({"a": ["1", "2x"], "b": 1});
        assert_eq!(schema.sanitize_with(value, "p", &mut notices), Ok(json!({"a": [1, 2], "b": 1})));
        assert_eq!(notices.iter().len(), 2, "{notices:?}");
        let value = json!({"a": [1, "1"], "b": 1});
        assert!(schema.sanitize_with(value.clone(), "p", &mut notices).is_err());
        let kept = schema.sanitize_keeping_errors(value, "p", &mut notices, &mut |error| error.code().into());
        assert_eq!(kept, Ok(json!({"a": "rest_duplicate_items", "b": 1})));
    }
}
