//! The arguments of an endpoint, and the two steps that validate and sanitize all parameters of a request.

use std::{borrow::Cow, fmt, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value};
use svc_php::{
    cast::truthy,
    list::{MAX_TEXT_ITEMS, count_text_items},
};

use crate::{Error, Schema, SchemaBuilder};

/// Validates one argument: true, false (which results in a generic message), or a specific error.
pub type ValidateFn = Arc<dyn Fn(&Value, &str) -> Result<bool, Error> + Send + Sync>;
/// Sanitizes the value of one argument.
pub type SanitizeFn = Arc<dyn Fn(Value, &str) -> Result<Value, Error> + Send + Sync>;

/// How an argument is validated.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Validator {
    /// It is not validated.
    #[default]
    None,
    /// Against its schema.
    BySchema,
    /// With a function of the value and the argument's name.
    Custom(ValidateFn),
}

/// How an argument is sanitized.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Sanitizer {
    /// It is not sanitized.
    #[default]
    None,
    /// By its schema, without validation.
    BySchema,
    /// Validated against its schema, then sanitized by it. The default for arguments whose schema has a type.
    Parse,
    /// With a function of the value and the argument's name.
    Custom(SanitizeFn),
}

/// One argument of an endpoint.
#[derive(Clone, Default)]
pub struct Arg {
    /// Its schema, including the source that route descriptions contain.
    pub schema: Option<Schema>,
    /// Whether requests without it are rejected.
    pub required: bool,
    /// The value used if a request does not have it.
    pub default: Option<Value>,
    /// How it is validated.
    pub validate: Validator,
    /// How it is sanitized.
    pub sanitize: Sanitizer,
    /// Whether the index and `OPTIONS` leave it out, because clients compare them with those of other servers. The OpenAPI document
    /// describes it.
    pub unlisted: bool,
    /// The schema that the index and `OPTIONS` show instead, for the same reason.
    pub listed: Option<Value>,
}

impl Arg {
    /// An argument as routes declare it: no validator, and, if the schema has a `type`, [`Sanitizer::Parse`].
    /// `required` and `default` come from the schema.
    ///
    /// Source: specification, "Argument processing", 3.
    pub fn new(schema: impl Into<Schema>) -> Self {
        let schema = schema.into();
        let has_type = schema.source().get("type").is_some_and(truthy);
        Arg {
            required: schema.is_required(),
            default: schema.default().cloned(),
            validate: Validator::None,
            sanitize: if has_type { Sanitizer::Parse } else { Sanitizer::None },
            unlisted: false,
            listed: None,
            schema: Some(schema),
        }
    }

    /// An argument that is validated by its schema in the first step and sanitized by it in the second, as arguments
    /// derived from an item schema are.
    pub fn by_schema(schema: impl Into<Schema>) -> Self {
        Arg { validate: Validator::BySchema, sanitize: Sanitizer::BySchema, ..Self::new(schema) }
    }

    /// Sets a validation function.
    #[must_use]
    pub fn validate_with(
        mut self,
        check: impl Fn(&Value, &str) -> Result<bool, Error> + Send + Sync + 'static,
    ) -> Self {
        self.validate = Validator::Custom(Arc::new(check));
        self
    }

    /// Sets a sanitizing function.
    #[must_use]
    pub fn sanitize_with(
        mut self,
        clean: impl Fn(Value, &str) -> Result<Value, Error> + Send + Sync + 'static,
    ) -> Self {
        self.sanitize = Sanitizer::Custom(Arc::new(clean));
        self
    }

    /// The source of the schema; null without one.
    pub fn source(&self) -> &Value {
        self.schema.as_ref().map_or(&Value::Null, Schema::source)
    }

    /// Runs the validator. `Ok(false)` rejects the value without a message.
    ///
    /// # Errors
    /// The error of the custom validator, or of [`Schema::validate`].
    pub fn check(&self, value: &Value, name: &str) -> Result<bool, Error> {
        match (&self.validate, &self.schema) {
            (Validator::Custom(check), _) => check(value, name),
            (Validator::BySchema, Some(schema)) => schema.validate(value, name).map(|()| true),
            (Validator::BySchema, None) | (Validator::None, _) => Ok(true),
        }
    }

    /// Whether the schema sanitizes the argument and would leave this value unchanged.
    fn leaves_unchanged(&self, value: &Value, name: &str) -> bool {
        match (&self.sanitize, &self.schema) {
            (Sanitizer::BySchema | Sanitizer::Parse, Some(schema)) => schema.is_sanitized(value, name) == Ok(true),
            _ => false,
        }
    }

    /// Runs the sanitizer.
    ///
    /// # Errors
    /// The error of the custom sanitizer, or of [`Schema::sanitize`] or [`Schema::parse`].
    pub fn clean(&self, value: Value, name: &str) -> Result<Value, Error> {
        match (&self.sanitize, &self.schema) {
            (Sanitizer::Custom(clean), _) => clean(value, name),
            (Sanitizer::BySchema, Some(schema)) => schema.sanitize(value, name),
            (Sanitizer::Parse, Some(schema)) => schema.parse(value, name),
            (Sanitizer::BySchema | Sanitizer::Parse, None) | (Sanitizer::None, _) => Ok(value),
        }
    }
}

impl From<Schema> for Arg {
    fn from(schema: Schema) -> Self {
        Arg::new(schema)
    }
}

impl From<SchemaBuilder> for Arg {
    fn from(schema: SchemaBuilder) -> Self {
        Arg::new(schema)
    }
}

impl fmt::Debug for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let validate = match self.validate {
            Validator::None => "none",
            Validator::BySchema => "by schema",
            Validator::Custom(_) => "custom",
        };
        let sanitize = match self.sanitize {
            Sanitizer::None => "none",
            Sanitizer::BySchema => "by schema",
            Sanitizer::Parse => "parse",
            Sanitizer::Custom(_) => "custom",
        };
        f.debug_struct("Arg")
            .field("schema", self.source())
            .field("required", &self.required)
            .field("default", &self.default)
            .field("validate", &validate)
            .field("sanitize", &sanitize)
            .finish()
    }
}

/// The arguments of an endpoint, in order.
#[derive(Clone, Debug, Default)]
pub struct Args(pub IndexMap<String, Arg>);

impl Args {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an argument. An existing argument of the same name is replaced in its position.
    pub fn insert(&mut self, name: impl Into<String>, arg: impl Into<Arg>) {
        self.0.insert(name.into(), arg.into());
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, arg: impl Into<Arg>) -> Self {
        self.insert(name, arg);
        self
    }

    /// Validates these arguments by their schemas in the first step, if they would be parsed in the second. Invalid
    /// values are then reported without the errors of the second step.
    #[must_use]
    pub fn validate_first(mut self, names: &[&str]) -> Self {
        for name in names {
            if let Some(arg) = self.0.get_mut(*name)
                && matches!(arg.sanitize, Sanitizer::Parse)
            {
                (arg.validate, arg.sanitize) = (Validator::BySchema, Sanitizer::BySchema);
            }
        }
        self
    }

    /// Sorts these arguments in the given order, within the positions that they have together. The order in which
    /// arguments are validated and listed may differ from that of the resource's fields.
    #[must_use]
    pub fn ordered(mut self, names: &[&str]) -> Self {
        let names: Vec<&str> = names.iter().copied().filter(|name| self.0.contains_key(*name)).collect();
        let positions: Vec<usize> =
            (0..).zip(self.0.keys()).filter(|(_, n)| names.contains(&n.as_str())).map(|(index, _)| index).collect();
        for (position, name) in positions.into_iter().zip(names) {
            if let Some(index) = self.0.get_index_of(name) {
                self.0.swap_indices(position, index);
            }
        }
        self
    }

    /// The argument of this name.
    pub fn get(&self, name: &str) -> Option<&Arg> {
        self.0.get(name)
    }

    /// All arguments, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arg)> {
        self.0.iter().map(|(name, arg)| (name.as_str(), arg))
    }

    /// Merges these arguments with `common` ones. The common ones come first; these take precedence if both have a
    /// name.
    ///
    /// Source: specification, "Route registration", 5.
    #[must_use]
    pub fn over(self, common: &Args) -> Self {
        let mut merged = common.clone();
        merged.0.extend(self.0);
        merged
    }

    /// The defaults of the arguments that have one.
    pub fn defaults(&self) -> Map<String, Value> {
        self.0.iter().filter_map(|(name, arg)| Some((name.clone(), arg.default.clone()?))).collect()
    }

    /// Counts the items of all lists that the parameters contain as strings. Without this check, a few bytes per item
    /// would become a value each.
    ///
    /// # Errors
    /// `rest_too_many_values` (413) above [`MAX_TEXT_ITEMS`] in total.
    pub fn check_text_lists<'v>(
        &self,
        params: impl IntoIterator<Item = (Cow<'v, str>, &'v Value)>,
    ) -> Result<(), Error> {
        let mut left = MAX_TEXT_ITEMS;
        for (name, value) in params {
            let Some(text) = value.as_str() else { continue };
            if self.get(&name).and_then(|arg| arg.schema.as_ref()).is_some_and(Schema::may_be_list) {
                left = left.checked_sub(count_text_items(text)).ok_or_else(Error::too_many_values)?;
            }
        }
        Ok(())
    }

    /// The first step: every required argument must be present and not null; then every present argument is validated.
    /// `get` looks up a parameter in all sources of the request; null counts as missing.
    ///
    /// # Errors
    /// `rest_missing_callback_param` (400) lists the missing parameters; `rest_invalid_param` (400) has a message for
    /// each invalid one in `params`, and the errors in `details`.
    pub fn validate<'v>(&self, get: impl Fn(&str) -> Option<&'v Value>) -> Result<(), Error> {
        self.validate_by(get, |name, arg, value| arg.check(value, name))
    }

    /// [`Self::validate`] with a different validator: `check` receives the name, the argument and the value.
    ///
    /// # Errors
    /// As [`Self::validate`], with the errors of `check` in `details`.
    pub fn validate_by<'v>(
        &self,
        get: impl Fn(&str) -> Option<&'v Value>,
        check: impl Fn(&str, &Arg, &Value) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let present = |name: &str| get(name).filter(|v| !v.is_null());
        let missing: Vec<&str> =
            self.iter().filter(|(name, arg)| arg.required && present(name).is_none()).map(|(name, _)| name).collect();
        if !missing.is_empty() {
            return Err(missing_params(&missing));
        }
        let mut invalid = InvalidParams::default();
        for (name, arg) in self.iter() {
            let Some(value) = present(name) else { continue };
            match check(name, arg, value) {
                Ok(true) => {}
                Ok(false) => invalid.add(name, None),
                Err(error) => invalid.add(name, Some(&error)),
            }
        }
        invalid.into_result()
    }

    /// The second step: sanitizes every parameter in every source of the request, in place.
    ///
    /// # Errors
    /// `rest_invalid_param` (400), as above. Invalid parameters keep their value.
    pub fn sanitize<'m>(&self, sources: impl IntoIterator<Item = &'m mut Map<String, Value>>) -> Result<(), Error> {
        let mut sources: Vec<&mut Map<String, Value>> = sources.into_iter().collect();
        let params = sources.iter().enumerate().flat_map(|(idx, source)| {
            source.iter().map(move |(name, value)| (idx, Cow::Borrowed(name.as_str()), value))
        });
        let (changed, result) = self.sanitized(params, |_, _| None);
        for Sanitized { source, name, value } in changed {
            sources[source].insert(name, value);
        }
        result
    }

    /// The parameters that [`Self::sanitize`] would change, with their new values. `params` are the sources, names and
    /// values of all parameters. `clean` is called for each that is an argument; if it returns `None`, the argument's own
    /// sanitizer runs.
    ///
    /// # Errors
    /// As [`Self::sanitize`], next to the valid parameters.
    pub fn sanitized<'v, S>(
        &self,
        params: impl IntoIterator<Item = (S, Cow<'v, str>, &'v Value)>,
        mut clean: impl FnMut(&str, &Value) -> Option<Result<Value, Error>>,
    ) -> (Vec<Sanitized<S>>, Result<(), Error>) {
        let (mut changed, mut invalid) = (Vec::new(), InvalidParams::default());
        for (source, name, value) in params {
            let Some(arg) = self.get(&name) else { continue };
            let cleaned = match clean(&name, value) {
                Some(cleaned) => cleaned,
                // Nearly all values are already sanitized. This avoids copying long ones.
                None if matches!(arg.sanitize, Sanitizer::None) || arg.leaves_unchanged(value, &name) => continue,
                None => arg.clean(value.clone(), &name),
            };
            match cleaned {
                Ok(value) => changed.push(Sanitized { source, name: name.into_owned(), value }),
                Err(error) => invalid.add(&name, Some(&error)),
            }
        }
        (changed, invalid.into_result())
    }

    /// The parameters that are valid and that sanitizing changes, with their new values. `params` are the sources, names
    /// and values of all parameters.
    pub fn sanitized_if_valid<'v, S>(
        &self,
        params: impl IntoIterator<Item = (S, Cow<'v, str>, &'v Value)>,
    ) -> Vec<Sanitized<S>> {
        let mut changed = Vec::new();
        for (source, name, value) in params {
            let Some(arg) = self.get(&name) else { continue };
            let cleaned = match (&arg.sanitize, &arg.schema) {
                (Sanitizer::None, _) => None,
                (Sanitizer::BySchema | Sanitizer::Parse, Some(schema)) => schema.parse(value.clone(), &name).ok(),
                _ => arg.clean(value.clone(), &name).ok(),
            };
            if let Some(value) = cleaned.filter(|cleaned| cleaned != value) {
                changed.push(Sanitized { source, name: name.into_owned(), value });
            }
        }
        changed
    }
}

/// A parameter that sanitizing changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sanitized<S> {
    /// The source of the parameter.
    pub source: S,
    /// Its name.
    pub name: String,
    /// Its new value.
    pub value: Value,
}

impl<N: Into<String>, A: Into<Arg>> FromIterator<(N, A)> for Args {
    fn from_iter<I: IntoIterator<Item = (N, A)>>(items: I) -> Self {
        Args(items.into_iter().map(|(name, arg)| (name.into(), arg.into())).collect())
    }
}

impl<N: Into<String>, A: Into<Arg>, const LEN: usize> From<[(N, A); LEN]> for Args {
    fn from(items: [(N, A); LEN]) -> Self {
        items.into_iter().collect()
    }
}

/// Invalid arguments, by name.
#[derive(Default)]
struct InvalidParams {
    params: Map<String, Value>,
    details: Map<String, Value>,
}

impl InvalidParams {
    fn add(&mut self, name: &str, error: Option<&Error>) {
        let message = match error {
            Some(error) => {
                self.details.insert(name.to_owned(), error.to_body());
                error.messages().collect::<Vec<_>>().join(" ")
            }
            None => "Invalid parameter.".to_owned(),
        };
        self.params.insert(name.to_owned(), message.into());
    }

    fn into_result(self) -> Result<(), Error> {
        if self.params.is_empty() { Ok(()) } else { Err(invalid_params(self)) }
    }
}

fn missing_params(names: &[&str]) -> Error {
    let data = serde_json::json!({ "status": 400, "params": names });
    Error::new("rest_missing_callback_param", format!("Missing parameter(s): {}", names.join(", "))).with_data(data)
}

fn invalid_params(invalid: InvalidParams) -> Error {
    let names: Vec<&str> = invalid.params.keys().map(String::as_str).collect();
    let message = format!("Invalid parameter(s): {}", names.join(", "));
    let details = svc_php::list::list_shape(Value::Object(invalid.details));
    let params = svc_php::list::list_shape(Value::Object(invalid.params));
    Error::new("rest_invalid_param", message)
        .with_data(serde_json::json!({ "status": 400, "params": params, "details": details }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::build::{array, integer, string, untyped};

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("not a map: {other}"),
        }
    }

    #[test]
    fn required_arguments_must_be_present_and_not_null() {
        let args = Args::from([("a", integer().required()), ("b", integer().required()), ("c", integer())]);
        let params = map(json!({"a": 1, "b": null}));
        let error = args.validate(|name| params.get(name)).unwrap_err();
        assert_eq!((error.code(), error.status()), ("rest_missing_callback_param", 400));
        assert_eq!(error.data(), Some(&json!({"status": 400, "params": ["b"]})));
    }

    #[test]
    fn typed_arguments_are_parsed_in_the_second_step() {
        let args = Args::from([("n", integer().minimum(2)), ("free", untyped().minimum(9))]);
        let mut params = map(json!({"n": "5", "free": "x", "unknown": []}));
        assert!(args.validate(|name| params.get(name)).is_ok());
        args.sanitize([&mut params]).unwrap();
        assert_eq!(Value::Object(params), json!({"n": 5, "free": "x", "unknown": []}));
        let mut params = map(json!({"n": "1"}));
        let error = args.sanitize([&mut params]).unwrap_err();
        assert_eq!(
            error.data(),
            Some(&json!({
                "status": 400,
                "params": {"n": "n must be greater than or equal to 2"},
                "details": {"n": {"code": "rest_out_of_bounds", "message": "n must be greater than or equal to 2", "data": null}},
            }))
        );
        assert_eq!(params["n"], json!("1"));
    }

    #[test]
    fn invalid_parameters_keep_their_value() {
        let args = Args::from([("n", integer()), ("m", integer())]);
        let (n, m) = (json!("5"), json!("x"));
        let changed = args.sanitized_if_valid([((), "n".into(), &n), ((), "m".into(), &m)]);
        assert_eq!(changed, [Sanitized { source: (), name: "n".to_owned(), value: json!(5) }]);
        let by_schema = Args::new().with("m", Arg::by_schema(integer()));
        assert_eq!(by_schema.sanitized_if_valid([((), "m".into(), &m)]), []);
    }

    #[test]
    fn only_values_that_change_are_returned() {
        let args = Args::from([("n", integer()), ("free", untyped())]);
        let (five, text) = (json!(5), json!("5"));
        let params =
            [(0, "n".into(), &five), (1, "n".into(), &text), (2, "free".into(), &text), (3, "x".into(), &text)];
        let (changed, result) = args.sanitized(params, |_, _| None);
        assert_eq!((changed, result), (vec![Sanitized { source: 1, name: "n".to_owned(), value: json!(5) }], Ok(())));
    }

    #[test]
    fn arguments_of_a_schema() {
        let schema = || integer().required().default(3).compile();
        // Rows: an argument; whether its validator accepts "x", the result of its sanitizer, and its steps.
        let rows = [
            (Arg::new(schema()), Ok(true), None, r#"validate: "none", sanitize: "parse""#),
            (Arg::from(schema()), Ok(true), None, r#"validate: "none", sanitize: "parse""#),
            (Arg::by_schema(schema()), Err(()), Some(json!(0)), r#"validate: "by schema", sanitize: "by schema""#),
            (
                Arg::new(schema()).validate_with(|_, _| Ok(false)).sanitize_with(|_, _| Ok(json!(7))),
                Ok(false),
                Some(json!(7)),
                r#"validate: "custom", sanitize: "custom""#,
            ),
        ];
        for (arg, accepted, sanitized, steps) in rows {
            assert_eq!((arg.required, arg.default.clone()), (true, Some(json!(3))), "{steps}");
            assert_eq!(arg.check(&json!("x"), "n").map_err(|_| ()), accepted, "{steps}");
            assert_eq!(arg.clean(json!("x"), "n").ok(), sanitized, "{steps}");
            let text = format!("{arg:?}");
            assert!(text.starts_with("Arg { schema: Object {") && text.contains(steps), "{text}");
        }
        assert!(matches!(Arg::new(untyped()).sanitize, Sanitizer::None));
        assert_eq!(Arg::default().source(), &Value::Null);
    }

    #[test]
    fn defaults_of_arguments() {
        let args = Args::from([("a", integer().default(1)), ("b", string()), ("c", string().default(""))]);
        assert_eq!(Value::Object(args.defaults()), json!({"a": 1, "c": ""}));
    }

    #[test]
    fn lists_in_strings_are_counted_together() {
        let nested = Schema::compile(json!({"anyOf": [{"type": "string"}, {"type": ["null", "array"]}]}));
        let args = Args::from([("ids", Arg::new(array(integer()))), ("any", nested.into()), ("text", string().into())]);
        let half = Value::from("1,".repeat(MAX_TEXT_ITEMS / 2));
        let count = |names: &[&'static str]| {
            let error = args.check_text_lists(names.iter().map(|name| ((*name).into(), &half))).err();
            error.map(|error| (error.code().to_owned(), error.status()))
        };
        assert_eq!(count(&["ids", "any", "text", "unknown"]), None);
        assert_eq!(count(&["ids", "any", "ids"]), Some(("rest_too_many_values".to_owned(), 413)));
        assert_eq!(count(&["text", "text", "text"]), None);
    }

    #[test]
    fn functions_replace_the_schema() {
        let arg = Arg::new(string()).validate_with(|v, _| Ok(v == "yes")).sanitize_with(|_, name| Ok(name.into()));
        let args = Args::new().with("a", arg);
        let mut params = map(json!({"a": "yes"}));
        assert!(args.validate(|name| params.get(name)).is_ok());
        args.sanitize([&mut params]).unwrap();
        assert_eq!(params["a"], json!("a"));
        let error = args.validate(|name| params.get(name)).unwrap_err();
        assert_eq!(error.data(), Some(&json!({"status": 400, "params": {"a": "Invalid parameter."}, "details": []})));
    }

    #[test]
    fn ordered_arguments_keep_their_joint_positions() {
        let args: Args = ["a", "b", "c", "d", "e"].map(|name| (name, string())).into();
        let names = |args: &Args| args.iter().map(|(name, _)| name.to_owned()).collect::<String>();
        assert_eq!(names(&args.clone().ordered(&["e", "x", "b", "a"])), "ebcda");
        assert_eq!(names(&args.ordered(&[])), "abcde");
    }

    #[test]
    fn validate_first_rejects_in_the_first_step() {
        let args = Args::from([("n", integer()), ("m", integer())]).validate_first(&["n", "x"]);
        let params = map(json!({"n": "x", "m": "x"}));
        let error = args.validate(|name| params.get(name)).unwrap_err();
        assert_eq!(error.data().map(|data| data["params"].as_object().map(Map::len)), Some(Some(1)));
    }

    #[test]
    fn endpoint_arguments_override_common_ones() {
        let common = Args::from([("id", integer()), ("x", string())]);
        let merged = Args::from([("x", integer()), ("y", integer())]).over(&common);
        assert_eq!(merged.iter().map(|(n, _)| n).collect::<Vec<_>>(), ["id", "x", "y"]);
        assert_eq!(merged.0["x"].source()["type"], "integer");
    }
}
