//! State of one validation or sanitization: notices, the remaining steps, and the choice among several types.

use serde_json::Value;
use svc_php::list::MAX_TEXT_ITEMS;

use crate::{
    Error, Notice, NoticeKind, Notices,
    compile::{Node, SchemaTypes, TypeName, TypeSlot},
    path::Path,
    raise,
    values::{is_array, is_boolean, is_object},
};

/// Maximum number of schema evaluations per run. Nested combined schemas with enums can multiply the work; this bounds
/// it.
const MAX_STEPS: u32 = 5_000_000;

/// Steps charged for a pattern match that exceeded its limit.
pub(crate) const STEPS_OF_GIVEN_UP_MATCH: u32 = 20_000;

/// Error of a failed validation; `None` if no message is needed.
pub(crate) type Failure = Option<Error>;

/// Replaces the error of a property or item while sanitizing.
pub(crate) type ReplaceError<'r> = &'r mut (dyn FnMut(Error) -> Value + 'r);

pub(crate) struct Evaluation<'r> {
    notices: Option<&'r mut Notices>,
    /// Replaces errors of properties and items while sanitizing. Without it, they end the run.
    pub(crate) replace_error: Option<ReplaceError<'r>>,
    /// Whether errors are reported without messages.
    pub(crate) is_quiet: bool,
    /// Whether notices are suppressed because an earlier pass over the same value reported them.
    pub(crate) is_muted: bool,
    /// Set while sanitizing for a comparison: records whether an error occurred inside, in which case the value equals
    /// nothing.
    pub(crate) error_inside: Option<bool>,
    /// Whether sanitizing might change a validated value. Only reset for branches that do not match.
    pub(crate) may_change: bool,
    steps_left: u32,
    /// Items of lists in strings that the sanitized value may still get.
    pub(crate) text_items_left: usize,
}

/// The operation, which notices report by the name of WordPress's function.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Validate,
    Sanitize,
}

/// Version of WordPress since which an invalid `type` is reported.
const TYPE_NOTICE_VERSION: &str = "5.5.0";
const BUILT_IN_TYPES: &str = "array, object, string, number, integer, boolean and null";

impl<'r> Evaluation<'r> {
    pub(crate) fn new(notices: Option<&'r mut Notices>) -> Self {
        Evaluation {
            notices,
            replace_error: None,
            is_quiet: false,
            is_muted: false,
            error_inside: None,
            may_change: false,
            steps_left: MAX_STEPS,
            text_items_left: MAX_TEXT_ITEMS,
        }
    }

    /// Counts one step; fails if none is left.
    pub(crate) fn step(&mut self, path: &Path<'_>) -> Result<(), Failure> {
        self.charge(1);
        if self.steps_left == 0 { Err(self.fail(|| raise::too_complex(path))) } else { Ok(()) }
    }

    pub(crate) fn charge(&mut self, steps: u32) {
        self.steps_left = self.steps_left.saturating_sub(steps);
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// A failure; the message is only generated if it is needed.
    pub(crate) fn fail(&self, error: impl FnOnce() -> Error) -> Failure {
        if self.is_quiet { None } else { Some(error()) }
    }

    /// The result for the caller. An error always has a message.
    pub(crate) fn finish<T>(&self, outcome: Result<T, Failure>, param: &str) -> Result<T, Error> {
        outcome.map_err(|fail| fail.unwrap_or_else(|| raise::no_match(&Path::Root(param), None)))
    }

    fn notice(&mut self, function: &str, message: impl FnOnce() -> String) {
        if self.is_muted {
            return;
        }
        if let Some(notices) = self.notices.as_deref_mut().filter(|n| !n.is_full()) {
            notices.push(Notice::new(NoticeKind::DoingItWrong, function, message()).since(TYPE_NOTICE_VERSION));
        }
    }

    /// Selects one type and reports an invalid one. `Ok(None)` without a type, `Err` if no type of a list accepts the
    /// value.
    pub(crate) fn resolve_type<'s>(
        &mut self,
        types: SchemaTypes<'s>,
        value: &Value,
        path: &Path<'_>,
        operation: Operation,
    ) -> Result<Option<&'s TypeName>, NoTypeFits> {
        let function = match operation {
            Operation::Validate => "rest_validate_value_from_schema",
            Operation::Sanitize => "rest_sanitize_value_from_schema",
        };
        let resolved = match types {
            SchemaTypes::Missing => {
                self.notice(function, || format!("The schema of {path} has no \"type\"."));
                None
            }
            SchemaTypes::One(name) => Some(name),
            SchemaTypes::Many(names) => Some(self.best_type(names, value, path).ok_or(NoTypeFits)?),
        };
        if resolved.is_none_or(TypeName::is_unknown) {
            self.notice(function, || {
                format!("The schema of {path} has a \"type\" that is not one of the built-in types: {BUILT_IN_TYPES}.")
            });
        }
        Ok(resolved)
    }

    /// The best of several types: the first that accepts the value, otherwise the first unknown one.
    ///
    /// Source: specification, "Validation", 4.
    fn best_type<'s>(&mut self, names: &'s [TypeName], value: &Value, path: &Path<'_>) -> Option<&'s TypeName> {
        let unknown = names.iter().find(|name| name.is_unknown());
        if unknown.is_some() {
            self.notice("rest_handle_multi_type_schema", || {
                format!(
                    "The schema of {path} lists a \"type\" that is not one of the built-in types: {BUILT_IN_TYPES}."
                )
            });
        }
        let is_empty_text = value.as_str() == Some("");
        let best = names
            .iter()
            .find(|name| is_empty_text && **name == TypeName::String)
            .or_else(|| names.iter().find(|name| accepts(name, value)))
            .or(unknown)?;
        // As in PHP, an empty name and "0" count as no type.
        if matches!(best.name(), "" | "0") { None } else { Some(best) }
    }

    pub(crate) fn best_type_name<'s>(&mut self, node: &'s Node, value: &Value, path: &Path<'_>) -> Option<&'s str> {
        match &node.types {
            TypeSlot::Missing => None,
            TypeSlot::One(name) => Some(name.name()),
            TypeSlot::Many(names) => self.best_type(names, value, path).map(TypeName::name),
        }
    }
}

/// No type of the list accepts the value.
pub(crate) struct NoTypeFits;

/// Whether a type accepts a value. Source: specification, "Validation", table of type checks.
fn accepts(name: &TypeName, value: &Value) -> bool {
    match name {
        TypeName::Array => is_array(value),
        TypeName::Object => is_object(value),
        TypeName::Integer => svc_php::numeric::is_integer(value),
        TypeName::Number => svc_php::numeric::is_numeric(value),
        TypeName::Boolean => is_boolean(value),
        TypeName::String => value.is_string(),
        TypeName::Null => value.is_null(),
        TypeName::Other(_) => false,
    }
}
