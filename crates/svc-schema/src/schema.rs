//! A schema: its source JSON and what it was compiled to.

use std::{fmt, sync::Arc};

use serde_json::Value;

use crate::{
    Error, Notices,
    compile::{Node, compile},
    context::filter,
    path::Path,
    run::Run,
};

/// A compiled schema. Cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    source: Value,
    node: Node,
}

impl Schema {
    /// Compiles a schema. It takes any JSON: what it does not understand it leaves out, and a missing or unknown `type`
    /// becomes a notice when the schema is used. Sub-schemas nested deeper than 64 levels take any value.
    pub fn compile(source: Value) -> Schema {
        let node = compile(&source);
        Schema(Arc::new(Compiled { source, node }))
    }

    /// The source, as descriptions of a route show it.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    fn node(&self) -> &Node {
        &self.0.node
    }

    /// The keyword `default`; null is no default.
    pub fn default(&self) -> Option<&Value> {
        self.source().get("default").filter(|v| !v.is_null())
    }

    /// Whether the keyword `required` is true (not a list).
    pub fn is_required(&self) -> bool {
        self.source().get("required") == Some(&Value::Bool(true))
    }

    /// The keyword `readonly`.
    pub fn is_readonly(&self) -> bool {
        self.source().get("readonly").is_some_and(svc_php::cast::truthy)
    }

    /// Whether a value fits. `param` names it in messages.
    ///
    /// # Errors
    /// The first rule that it breaks, as the specification's table of errors words it; without status.
    pub fn validate(&self, value: &Value, param: &str) -> Result<(), Error> {
        Run::new(None).validate(self.node(), value, param)
    }

    /// As [`validate`](Self::validate), telling of a value that fits whether [`sanitize`](Self::sanitize) would leave it
    /// as it is. `false` may be wrong, `true` never is.
    ///
    /// # Errors
    /// The same.
    pub fn is_settled(&self, value: &Value, param: &str) -> Result<bool, Error> {
        let mut run = Run::new(None);
        run.validate(self.node(), value, param)?;
        Ok(!run.may_change)
    }

    /// As [`validate`](Self::validate), collecting what is wrong with the schema itself.
    ///
    /// # Errors
    /// The same.
    pub fn validate_with(&self, value: &Value, param: &str, notices: &mut Notices) -> Result<(), Error> {
        Run::new(Some(notices)).validate(self.node(), value, param)
    }

    /// Makes a value fit the schema's types and formats; it does not check anything else.
    ///
    /// # Errors
    /// `rest_duplicate_items` when items of a unique list become equal, at any depth, and the errors of `anyOf` and
    /// `oneOf` when not exactly what they ask for matches.
    pub fn sanitize(&self, value: Value, param: &str) -> Result<Value, Error> {
        Run::new(None).sanitize(self.node(), value, param)
    }

    /// As [`sanitize`](Self::sanitize), collecting what is wrong with the schema itself.
    ///
    /// # Errors
    /// The same.
    pub fn sanitize_with(&self, value: Value, param: &str, notices: &mut Notices) -> Result<Value, Error> {
        Run::new(Some(notices)).sanitize(self.node(), value, param)
    }

    /// As [`sanitize_with`](Self::sanitize_with), but an error below the value itself is put in the place of the member
    /// or item that raised it, as `stand_in` writes it; the reference does so with its error objects.
    ///
    /// # Errors
    /// Those of the value itself.
    pub fn sanitize_keeping_errors(
        &self,
        value: Value,
        param: &str,
        notices: &mut Notices,
        stand_in: &mut dyn FnMut(Error) -> Value,
    ) -> Result<Value, Error> {
        let mut run = Run::new(Some(notices));
        run.stand_in = Some(stand_in);
        run.sanitize(self.node(), value, param)
    }

    /// Validates, then sanitizes. Source: specification, "Argument processing", 3.
    ///
    /// # Errors
    /// Those of either step.
    pub fn parse(&self, value: Value, param: &str) -> Result<Value, Error> {
        if self.is_settled(&value, param)? { Ok(value) } else { self.sanitize(value, param) }
    }

    /// The value as the keyword `enum` sees it: sanitized, and equal to one of the allowed ones.
    ///
    /// # Errors
    /// `rest_not_in_enum`, or an error of sanitizing.
    pub fn validate_enum(&self, value: &Value, param: &str, notices: &mut Notices) -> Result<(), Error> {
        Run::new(Some(notices)).validate_enum_only(self.node(), value, param)
    }

    /// The index of the first sub-schema of `anyOf` that a value fits.
    ///
    /// # Errors
    /// `rest_no_matching_schema`.
    pub fn find_any_match(&self, value: &Value, param: &str, notices: &mut Notices) -> Result<usize, Error> {
        Run::new(Some(notices)).find_any_index(self.node(), value, param)
    }

    /// The index of the only sub-schema of `oneOf` that a value fits; with `first_will_do`, of the first one.
    ///
    /// # Errors
    /// `rest_no_matching_schema`, `rest_one_of_multiple_matches`.
    pub fn find_one_match(
        &self,
        value: &Value,
        param: &str,
        first_will_do: bool,
        notices: &mut Notices,
    ) -> Result<usize, Error> {
        Run::new(Some(notices)).find_one_index(self.node(), value, param, first_will_do)
    }

    /// The type with which a value is looked at, of those that the schema lists: the first that takes it, else the first
    /// one outside the allowed list, else `None`.
    pub fn best_type(&self, value: &Value, param: &str, notices: &mut Notices) -> Option<&str> {
        Run::new(Some(notices)).best_type_name(self.node(), value, &Path::Root(param))
    }

    /// Removes the members that the schema does not show in this context. A map that loses all its members prints as
    /// `[]`. Source: specification, "Context filtering".
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
