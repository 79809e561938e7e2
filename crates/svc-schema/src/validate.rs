//! Validates values. Source: specification, "Validation (against a schema)".

use std::{borrow::Borrow, cmp::Ordering};

use serde_json::{Map, Value};
use svc_php::{
    compare::{loose, numbers},
    list::{MAX_TEXT_ITEMS, split_list},
    numeric::{Num, number},
};

use crate::{
    Error,
    compile::{Additional, ArrayRules, Bound, Node, NumberRules, ObjectRules, SchemaTypes, TextRules, TypeName},
    evaluation::{Evaluation, Failure, NoTypeFits, Operation, STEPS_OF_GIVEN_UP_MATCH},
    path::Path,
    pattern::{Match, Pattern},
    property_map::has_property,
    raise,
    unique::has_duplicates,
    values::{are_values_equal, is_array, is_boolean, is_object},
};

impl Evaluation<'_> {
    pub(crate) fn validate(&mut self, node: &Node, value: &Value, param: &str) -> Result<(), Error> {
        let outcome = self.check(node, node.types.get(), value, &Path::Root(param));
        self.finish(outcome, param)
    }

    pub(crate) fn validate_enum_only(&mut self, node: &Node, value: &Value, param: &str) -> Result<(), Error> {
        let outcome = self.check_enum(node, node.types.get(), value, &Path::Root(param));
        self.finish(outcome, param)
    }

    /// Validates a value by a schema whose type, own or inherited, is `types`.
    pub(crate) fn check<'s>(
        &mut self,
        node: &'s Node,
        mut types: SchemaTypes<'s>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<(), Failure> {
        self.step(path)?;
        // Fast path of most values: one known type and its keywords.
        if let (true, SchemaTypes::One(kind)) = (node.has_only_type_rules, types)
            && !kind.is_unknown()
        {
            return self.check_type(node, kind, value, path);
        }
        if let Some(branches) = &node.any_of {
            let found = self.find_any(branches, types, value, path)?;
            if matches!(types, SchemaTypes::Missing) {
                types = branches[found].types.get();
            }
        }
        if let Some(branches) = &node.one_of {
            let found = self.find_one(branches, types, value, path)?;
            if matches!(types, SchemaTypes::Missing) {
                types = branches[found].types.get();
            }
        }
        let kind = match types {
            SchemaTypes::One(kind) if !kind.is_unknown() => Ok(Some(kind)),
            types => self.resolve_type(types, value, path, Operation::Validate),
        };
        let kind = match kind {
            Ok(kind) => kind,
            Err(NoTypeFits) => return Err(self.fail(|| raise::invalid_type(path, type_names(types)))),
        };
        if let Some(kind) = kind {
            self.check_type(node, kind, value, path)?;
        }
        if !node.values.is_empty() {
            self.check_enum(node, kind.map_or(SchemaTypes::Missing, SchemaTypes::One), value, path)?;
        }
        match &node.format {
            Some(format) if kind.is_none_or(|k| k.is_unknown() || *k == TypeName::String) => {
                if format.fits(value) {
                    self.may_change |= !(value.is_string() && format.leaves_valid_unchanged());
                    Ok(())
                } else {
                    Err(self.fail(|| raise::invalid_format(path, *format)))
                }
            }
            _ => Ok(()),
        }
    }

    fn check_type(&mut self, node: &Node, kind: &TypeName, value: &Value, path: &Path<'_>) -> Result<(), Failure> {
        let type_error = |evaluation: &Self| Err(evaluation.fail(|| raise::invalid_type(path, kind.name())));
        match kind {
            TypeName::Null if !value.is_null() => type_error(self),
            TypeName::Boolean if !is_boolean(value) => type_error(self),
            TypeName::Object if !is_object(value) => type_error(self),
            TypeName::Array if !is_array(value) => type_error(self),
            TypeName::String => match (value, &node.text) {
                (Value::String(text), Some(rules)) => self.check_text(rules, text, path),
                (Value::String(_), None) => Ok(()),
                _ => type_error(self),
            },
            TypeName::Number | TypeName::Integer => {
                let Some(n) = number(value) else { return type_error(self) };
                self.may_change |= !if *kind == TypeName::Integer { value.is_i64() } else { value.is_f64() };
                if let Some(rules) = &node.number {
                    self.check_number(rules, value, n, path)?;
                }
                if *kind == TypeName::Integer && !n.is_whole() { type_error(self) } else { Ok(()) }
            }
            TypeName::Object => {
                self.may_change |= !value.is_object();
                match &node.object {
                    Some(rules) => self.check_object(rules, value, path),
                    None => Ok(()),
                }
            }
            TypeName::Array => {
                self.may_change |= !value.is_array();
                match &node.array {
                    Some(rules) => self.check_array(rules, value, path),
                    None => Ok(()),
                }
            }
            TypeName::Boolean => {
                self.may_change |= !value.is_boolean();
                Ok(())
            }
            TypeName::Null | TypeName::Other(_) => Ok(()),
        }
    }

    fn check_text(&mut self, rules: &TextRules, text: &str, path: &Path<'_>) -> Result<(), Failure> {
        if rules.min.is_some() || rules.max.is_some() {
            let n_chars = text.chars().count();
            if let Some(min) = rules.min.as_ref().filter(|min| count_compares(n_chars, min, Ordering::Less)) {
                return Err(self.fail(|| raise::too_short(path, &min.source)));
            }
            if let Some(max) = rules.max.as_ref().filter(|max| count_compares(n_chars, max, Ordering::Greater)) {
                return Err(self.fail(|| raise::too_long(path, &max.source)));
            }
        }
        match &rules.pattern {
            Some(pattern) if !self.matches(pattern, text) => {
                Err(self.fail(|| raise::invalid_pattern(path, pattern.source())))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn matches(&mut self, pattern: &Pattern, text: &str) -> bool {
        match pattern.find(text) {
            Match::Yes => true,
            Match::No => false,
            Match::GaveUp => {
                self.charge(STEPS_OF_GIVEN_UP_MATCH);
                false
            }
        }
    }

    fn check_number(&mut self, rules: &NumberRules, value: &Value, n: Num, path: &Path<'_>) -> Result<(), Failure> {
        if let Some(divisor) = &rules.multiple_of
            && let Some(by) = divisor.number
            // The plain floating-point remainder: 0.3 is not a multiple of 0.1, and no number is a multiple of 0.
            && n.to_float() % by.to_float() != 0.0
        {
            return Err(self.fail(|| raise::invalid_multiple(path, &divisor.source)));
        }
        let against = |bound: &Bound| match bound.number {
            Some(bound) => numbers(n, bound),
            None => loose(value, &bound.source),
        };
        let breaks = |bound: &Option<Bound>, beyond: Ordering, exclusive: bool| {
            let order = bound.as_ref().and_then(against);
            order == Some(beyond) || (exclusive && order == Some(Ordering::Equal))
        };
        if breaks(&rules.min, Ordering::Less, rules.min_exclusive)
            || breaks(&rules.max, Ordering::Greater, rules.max_exclusive)
        {
            return Err(self.fail(|| raise::out_of_bounds(path, rules)));
        }
        Ok(())
    }

    fn check_object(&mut self, rules: &ObjectRules, value: &Value, path: &Path<'_>) -> Result<(), Failure> {
        let none = Map::new();
        let properties = value.as_object().unwrap_or(&none);
        let required = rules.required.as_deref().unwrap_or(&rules.marked_required);
        if let Some(name) = required.iter().find(|name| !has_property(properties, name)) {
            return Err(self.fail(|| raise::property_required(path, name)));
        }
        let mut next = 0;
        for (name, property) in properties {
            let property_path = Path::Property(path, name);
            match self.property_rule(rules, name, &mut next) {
                PropertyRule::Schema(schema) => self.check(schema, schema.types.get(), property, &property_path)?,
                PropertyRule::Forbidden => return Err(self.fail(|| raise::additional_property(name))),
                PropertyRule::Any => {}
            }
        }
        if let Some(min) = rules.min.as_ref().filter(|min| count_compares(properties.len(), min, Ordering::Less)) {
            return Err(self.fail(|| raise::too_few_properties(path, &min.source)));
        }
        if let Some(max) = rules.max.as_ref().filter(|max| count_compares(properties.len(), max, Ordering::Greater)) {
            return Err(self.fail(|| raise::too_many_properties(path, &max.source)));
        }
        Ok(())
    }

    /// The rule for a property: its own schema, otherwise the first pattern that matches its name, otherwise
    /// `additionalProperties`. The search in `properties` starts at `next`, initially 0.
    pub(crate) fn property_rule<'s>(
        &mut self,
        rules: &'s ObjectRules,
        name: &str,
        next: &mut usize,
    ) -> PropertyRule<'s> {
        if let Some(schema) = rules.properties.get_next(name, next) {
            return PropertyRule::Schema(schema);
        }
        if let Some((_, schema)) = rules.patterns.iter().find(|(pattern, _)| self.matches(pattern, name)) {
            return PropertyRule::Schema(schema);
        }
        match &rules.additional {
            Additional::Any => PropertyRule::Any,
            Additional::Forbidden => PropertyRule::Forbidden,
            Additional::Schema(schema) => PropertyRule::Schema(schema),
        }
    }

    fn check_array(&mut self, rules: &ArrayRules, value: &Value, path: &Path<'_>) -> Result<(), Failure> {
        match value {
            Value::Array(items) => self.check_items(rules, items, path),
            Value::Object(map) => self.check_items(rules, &map.values().collect::<Vec<_>>(), path),
            other => {
                let text = svc_php::cast::to_text(other);
                let Ok(items) = split_list(&text) else { return Err(self.too_many_text_items(rules, path)) };
                self.check_items(rules, &items.map(Value::from).collect::<Vec<_>>(), path)
            }
        }
    }

    /// The list's own `maxItems` is reported if it is lower than the general limit.
    fn too_many_text_items(&self, rules: &ArrayRules, path: &Path<'_>) -> Failure {
        let own = rules.max.as_ref().filter(|max| count_compares(MAX_TEXT_ITEMS, max, Ordering::Greater));
        self.fail(|| {
            own.map_or_else(|| raise::too_many_text_items(path), |max| raise::too_many_items(path, &max.source))
        })
    }

    fn check_items<V: Borrow<Value>>(
        &mut self,
        rules: &ArrayRules,
        items: &[V],
        path: &Path<'_>,
    ) -> Result<(), Failure> {
        if let Some(schema) = &rules.items {
            for (index, item) in items.iter().enumerate() {
                self.check(schema, schema.types.get(), item.borrow(), &Path::Item(path, index))?;
            }
        }
        let n_items = items.len();
        if let Some(min) = rules.min.as_ref().filter(|min| count_compares(n_items, min, Ordering::Less)) {
            return Err(self.fail(|| raise::too_few_items(path, &min.source)));
        }
        if let Some(max) = rules.max.as_ref().filter(|max| count_compares(n_items, max, Ordering::Greater)) {
            return Err(self.fail(|| raise::too_many_items(path, &max.source)));
        }
        if rules.unique && has_duplicates(items) {
            return Err(self.fail(|| raise::duplicate_items(path)));
        }
        Ok(())
    }

    /// Compares the value, sanitized with the selected type, with each allowed one.
    fn check_enum(
        &mut self,
        node: &Node,
        types: SchemaTypes<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<(), Failure> {
        let is_plain = node.any_of.is_none() && node.one_of.is_none() && node.format.is_none();
        let found = match (types, value) {
            (SchemaTypes::One(TypeName::String), Value::String(text)) if is_plain => {
                node.values.iter().any(|v| v.as_str() == Some(text))
            }
            (SchemaTypes::One(TypeName::Integer), Value::Number(n)) if is_plain && n.is_i64() => {
                node.values.iter().any(|v| are_values_equal(value, v))
            }
            _ => match self.sanitized_for_comparison(node, types, value, path)? {
                Some(clean) => node.values.iter().any(|v| are_values_equal(&clean, v)),
                None => false,
            },
        };
        if found { Ok(()) } else { Err(self.fail(|| raise::not_in_enum(path, &node.values))) }
    }

    /// `None` if a nested property or item cannot be sanitized; the value then equals nothing.
    fn sanitized_for_comparison(
        &mut self,
        node: &Node,
        types: SchemaTypes<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<Option<Value>, Failure> {
        let outer = self.error_inside.replace(false);
        let may_change = self.may_change;
        let outcome = self.clean(node, types, value.clone(), path);
        self.may_change = may_change;
        let error_inside = std::mem::replace(&mut self.error_inside, outer) == Some(true);
        outcome.map(|clean| (!error_inside).then_some(clean))
    }

    pub(crate) fn find_any_index(&mut self, node: &Node, value: &Value, param: &str) -> Result<usize, Error> {
        let branches = node.any_of.as_deref().unwrap_or_default();
        let outcome = self.find_any(branches, node.types.get(), value, &Path::Root(param));
        self.finish(outcome, param)
    }

    pub(crate) fn find_one_index(
        &mut self,
        node: &Node,
        value: &Value,
        param: &str,
        stop_at_first: bool,
    ) -> Result<usize, Error> {
        let branches = node.one_of.as_deref().unwrap_or_default();
        let path = Path::Root(param);
        let outcome = if stop_at_first {
            self.find_any(branches, node.types.get(), value, &path)
        } else {
            self.find_one(branches, node.types.get(), value, &path)
        };
        self.finish(outcome, param)
    }
}

/// The rule for one property of an object.
pub(crate) enum PropertyRule<'s> {
    Schema(&'s Node),
    Forbidden,
    Any,
}

/// The types as error messages list them.
fn type_names(types: SchemaTypes<'_>) -> String {
    match types {
        SchemaTypes::Many(names) => names.iter().map(TypeName::name).collect::<Vec<_>>().join(","),
        SchemaTypes::One(name) => name.name().to_owned(),
        SchemaTypes::Missing => String::new(),
    }
}

/// Whether a count compares with a bound in this way.
fn count_compares(n: usize, bound: &Bound, side: Ordering) -> bool {
    let n = i64::try_from(n).unwrap_or(i64::MAX);
    let order = match bound.number {
        Some(bound) => numbers(Num::Int(n), bound),
        None => loose(&Value::from(n), &bound.source),
    };
    order == Some(side)
}
