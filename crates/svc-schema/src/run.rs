//! One use of a schema: what is collected on the way, the work still allowed, and the choice among several types.

use serde_json::Value;

use crate::{
    Error, Notice, NoticeKind, Notices,
    compile::{Node, TypeName, TypeSlot, Types},
    path::Path,
    raise,
    values::{is_array, is_boolean, is_object},
};

/// Schemas applied to values in one use. Combined schemas with enums inside enums can multiply; this ends it.
const MAX_STEPS: u32 = 5_000_000;

/// Steps charged for a pattern match that was given up.
pub(crate) const STEPS_OF_GIVEN_UP_MATCH: u32 = 20_000;

/// Why a value does not fit; `None` while nobody needs the words.
pub(crate) type Fail = Option<Error>;

/// What happens to an error of a member or item while sanitizing.
pub(crate) type StandIn<'r> = &'r mut (dyn FnMut(Error) -> Value + 'r);

pub(crate) struct Run<'r> {
    notices: Option<&'r mut Notices>,
    /// Takes the errors of members and items while sanitizing; without it they end the run.
    pub(crate) stand_in: Option<StandIn<'r>>,
    /// Errors are asked for only as yes or no.
    pub(crate) is_quiet: bool,
    /// Notices were raised on the first pass over the same value.
    pub(crate) is_muted: bool,
    /// Sanitizing for a comparison only: an error inside is noted here, and makes the value equal to nothing.
    pub(crate) error_inside: Option<bool>,
    /// Whether sanitizing might change a value that was checked. Once set it stays, but for branches not taken.
    pub(crate) may_change: bool,
    steps_left: u32,
}

/// The two uses, by the names under which notices know them.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Validate,
    Sanitize,
}

/// The version of the interface since which a faulty `type` is told of.
const SINCE: &str = "5.5.0";
const BUILT_IN: &str = "array, object, string, number, integer, boolean and null";

impl<'r> Run<'r> {
    pub(crate) fn new(notices: Option<&'r mut Notices>) -> Self {
        Run {
            notices,
            stand_in: None,
            is_quiet: false,
            is_muted: false,
            error_inside: None,
            may_change: false,
            steps_left: MAX_STEPS,
        }
    }

    /// Takes one step, or fails when all were taken.
    pub(crate) fn step(&mut self, path: &Path<'_>) -> Result<(), Fail> {
        self.charge(1);
        if self.steps_left == 0 { Err(self.fail(|| raise::too_complex(path))) } else { Ok(()) }
    }

    pub(crate) fn charge(&mut self, steps: u32) {
        self.steps_left = self.steps_left.saturating_sub(steps);
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// A failure, worded only when somebody will read it.
    pub(crate) fn fail(&self, error: impl FnOnce() -> Error) -> Fail {
        if self.is_quiet { None } else { Some(error()) }
    }

    /// The outcome for the caller outside, where nothing is quiet.
    pub(crate) fn finish<T>(&self, outcome: Result<T, Fail>, param: &str) -> Result<T, Error> {
        outcome.map_err(|fail| fail.unwrap_or_else(|| raise::no_match(&Path::Root(param), None)))
    }

    fn notice(&mut self, function: &str, message: impl FnOnce() -> String) {
        if self.is_muted {
            return;
        }
        if let Some(notices) = self.notices.as_deref_mut().filter(|n| !n.is_full()) {
            notices.push(Notice {
                kind: NoticeKind::DoingItWrong,
                function: function.to_owned(),
                message: message(),
                version: SINCE.to_owned(),
            });
        }
    }

    /// Settles on one type, telling of a faulty one: `Ok(None)` without a type, `Err` when none of a list takes the value.
    pub(crate) fn settle<'s>(
        &mut self,
        types: Types<'s>,
        value: &Value,
        path: &Path<'_>,
        purpose: Use,
    ) -> Result<Option<&'s TypeName>, NoTypeFits> {
        let function = match purpose {
            Use::Validate => "rest_validate_value_from_schema",
            Use::Sanitize => "rest_sanitize_value_from_schema",
        };
        let settled = match types {
            Types::Missing => {
                self.notice(function, || format!("The schema of {path} has no \"type\"."));
                None
            }
            Types::One(name) => Some(name),
            Types::Many(names) => Some(self.best_type(names, value, path).ok_or(NoTypeFits)?),
        };
        if settled.is_none_or(TypeName::is_unknown) {
            self.notice(function, || {
                format!("The schema of {path} has a \"type\" that is not one of the built-in types: {BUILT_IN}.")
            });
        }
        Ok(settled)
    }

    /// The best of several types: the first that takes the value, else the first outside the allowed list.
    ///
    /// Source: specification, "Validation", 4.
    fn best_type<'s>(&mut self, names: &'s [TypeName], value: &Value, path: &Path<'_>) -> Option<&'s TypeName> {
        let unknown = names.iter().find(|name| name.is_unknown());
        if unknown.is_some() {
            self.notice("rest_handle_multi_type_schema", || {
                format!("The schema of {path} lists a \"type\" that is not one of the built-in types: {BUILT_IN}.")
            });
        }
        let is_empty_text = value.as_str() == Some("");
        let best = names
            .iter()
            .find(|name| is_empty_text && **name == TypeName::String)
            .or_else(|| names.iter().find(|name| takes(name, value)))
            .or(unknown)?;
        // An empty name, and "0", read as no type at all.
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

/// None of the listed types takes the value.
pub(crate) struct NoTypeFits;

/// Whether a type takes a value. Source: specification, "Validation", table of type checks.
fn takes(name: &TypeName, value: &Value) -> bool {
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
