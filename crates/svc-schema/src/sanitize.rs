//! Converts a value to a schema's types and formats. Source: specification, "Sanitization (against a schema)".

use serde_json::{Map, Value};
use svc_php::cast::{float_value, is_scalar, to_float, to_int, to_text};

use crate::{
    Error,
    compile::{ArrayRules, Node, ObjectRules, SchemaTypes, TypeName},
    evaluation::{Evaluation, Failure, Operation},
    path::Path,
    raise,
    unique::has_duplicates,
    validate::PropertyRule,
    values::{sanitize_array, sanitize_boolean, sanitize_object},
};

impl Evaluation<'_> {
    pub(crate) fn sanitize(&mut self, node: &Node, value: Value, param: &str) -> Result<Value, Error> {
        let outcome = self.clean(node, node.types.get(), value, &Path::Root(param));
        self.finish(outcome, param)
    }

    /// Sanitizes by a schema whose type, own or inherited, is `types`.
    pub(crate) fn clean<'s>(
        &mut self,
        node: &'s Node,
        mut types: SchemaTypes<'s>,
        mut value: Value,
        path: &Path<'_>,
    ) -> Result<Value, Failure> {
        self.step(path)?;
        if let Some(branches) = &node.any_of {
            let found = self.find_any(branches, types, &value, path)?;
            value = self.clean(&branches[found], branches[found].types.or(types), value, path)?;
            if matches!(types, SchemaTypes::Missing) {
                types = branches[found].types.get();
            }
        }
        if let Some(branches) = &node.one_of {
            let found = self.find_one(branches, types, &value, path)?;
            value = self.clean(&branches[found], branches[found].types.or(types), value, path)?;
            if matches!(types, SchemaTypes::Missing) {
                types = branches[found].types.get();
            }
        }
        let Ok(kind) = self.resolve_type(types, &value, path, Operation::Sanitize) else { return Ok(Value::Null) };
        match kind {
            Some(TypeName::Array) => self.sanitize_array_items(node.array.as_deref(), value, path),
            Some(TypeName::Object) => self.sanitize_properties(node.object.as_deref(), value, path),
            Some(TypeName::Null) => Ok(Value::Null),
            Some(TypeName::Integer) => Ok(if value.is_i64() { value } else { to_int(&value).into() }),
            Some(TypeName::Number) => Ok(if value.is_f64() { value } else { float_value(to_float(&value)) }),
            Some(TypeName::Boolean) => Ok(sanitize_boolean(&value).into()),
            text_or_unknown => Ok(match (&node.format, text_or_unknown) {
                (Some(format), _) => format.sanitize(&value).into(),
                (None, Some(TypeName::String)) if !value.is_string() => to_text(&value).into(),
                (None, _) => value,
            }),
        }
    }

    fn sanitize_array_items(
        &mut self,
        rules: Option<&ArrayRules>,
        value: Value,
        path: &Path<'_>,
    ) -> Result<Value, Failure> {
        let is_text = is_scalar(&value);
        let Ok(mut items) = sanitize_array(value) else { return Err(self.fail(|| raise::too_many_text_items(path))) };
        if is_text {
            match self.text_items_left.checked_sub(items.len()) {
                Some(left) => self.text_items_left = left,
                None => return Err(self.fail(|| raise::too_many_text_items(path))),
            }
        }
        let Some(rules) = rules else { return Ok(Value::Array(items)) };
        if let Some(schema) = rules.items.as_ref().filter(|_| !rules.items_empty) {
            for (index, item) in items.iter_mut().enumerate() {
                self.sanitize_nested(schema, item, &Path::Item(path, index))?;
            }
        }
        if rules.unique && has_duplicates(&items) {
            return Err(self.fail(|| raise::duplicate_items(path)));
        }
        Ok(Value::Array(items))
    }

    fn sanitize_properties(
        &mut self,
        rules: Option<&ObjectRules>,
        value: Value,
        path: &Path<'_>,
    ) -> Result<Value, Failure> {
        let mut properties: Map<String, Value> = sanitize_object(value);
        let Some(rules) = rules else { return Ok(Value::Object(properties)) };
        let (mut outcome, mut next) = (Ok(()), 0);
        properties.retain(|name, property| {
            if outcome.is_err() {
                return true;
            }
            match self.property_rule(rules, name, &mut next) {
                PropertyRule::Any => true,
                PropertyRule::Forbidden => false,
                PropertyRule::Schema(schema) => {
                    outcome = self.sanitize_nested(schema, property, &Path::Property(path, name));
                    true
                }
            }
        });
        outcome.map(|()| Value::Object(properties))
    }

    /// Sanitizes a property or item in place, and handles its error.
    fn sanitize_nested(&mut self, schema: &Node, slot: &mut Value, path: &Path<'_>) -> Result<(), Failure> {
        let value = std::mem::take(slot);
        match self.clean(schema, schema.types.get(), value, path) {
            Ok(clean) => *slot = clean,
            Err(_) if self.is_exhausted() => return Err(self.fail(|| raise::too_complex(path))),
            Err(fail) => match (&mut self.error_inside, &mut self.replace_error, fail) {
                (Some(has_error), _, _) => *has_error = true,
                (None, Some(replace_error), Some(error)) => *slot = replace_error(error),
                (None, _, fail) => return Err(fail),
            },
        }
        Ok(())
    }
}
