//! Abilities and their categories.
//!
//! An [`Ability`] has a name, a label and a description, an input and an output schema, a permission callback and a
//! function. Input is validated and sanitized before the permission callback and the function run; output is validated
//! before it is returned.

use std::{future::Future, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use svc_auth::Caller;
use svc_routing::{BoxFuture, Method, Request, Result};
use svc_schema::{Error, Schema};
use svc_site::Site;

/// The arguments of an ability's callbacks.
#[derive(Clone)]
pub struct AbilityCall {
    /// The site.
    pub site: Arc<Site>,
    /// The user who runs the ability.
    pub caller: Caller,
    /// The validated and sanitized input; null if there is none.
    pub input: Value,
    /// The request that runs the ability.
    pub request: Request,
}

type Permission = Arc<dyn Fn(&AbilityCall) -> bool + Send + Sync>;
type Execute = Arc<dyn Fn(AbilityCall) -> BoxFuture<Result<Value>> + Send + Sync>;

/// A category of abilities.
#[derive(Clone, Debug, PartialEq)]
pub struct AbilityCategory {
    pub(crate) slug: String,
    pub(crate) label: String,
    pub(crate) description: String,
    pub(crate) meta: Map<String, Value>,
}

impl AbilityCategory {
    /// A category with its slug and its label.
    pub fn new(slug: &str, label: &str) -> Self {
        AbilityCategory { slug: slug.to_owned(), label: label.to_owned(), description: String::new(), meta: Map::new() }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// Adds a value to the public metadata.
    #[must_use]
    pub fn meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }
}

/// An ability. By default nobody may run it, it returns null, and it is not listed over REST.
#[derive(Clone)]
pub struct Ability {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) description: String,
    pub(crate) category: String,
    pub(crate) input: Option<Schema>,
    pub(crate) output: Option<Schema>,
    readonly: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    is_public: bool,
    pub(crate) show_in_rest: bool,
    meta: Map<String, Value>,
    pub(crate) permission: Permission,
    execute: Execute,
}

impl Ability {
    /// An ability with its name (`acme/make-coffee`), the slug of its category and its label.
    pub fn new(name: &str, category: &str, label: &str) -> Self {
        Ability {
            name: name.to_owned(),
            label: label.to_owned(),
            description: String::new(),
            category: category.to_owned(),
            input: None,
            output: None,
            readonly: None,
            destructive: None,
            idempotent: None,
            is_public: false,
            show_in_rest: false,
            meta: Map::new(),
            permission: Arc::new(|_| false),
            execute: Arc::new(|_| Box::pin(std::future::ready(Ok(Value::Null)))),
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// Sets the input schema. Its `default` replaces missing input.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Value>) -> Self {
        self.input = Some(Schema::compile(schema.into()));
        self
    }

    /// Sets the output schema.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<Value>) -> Self {
        self.output = Some(Schema::compile(schema.into()));
        self
    }

    /// Declares whether the ability only reads. Read-only abilities run with `GET`.
    #[must_use]
    pub fn readonly(mut self, readonly: bool) -> Self {
        self.readonly = Some(readonly);
        self
    }

    /// Declares whether the ability may destroy data. Destructive and idempotent abilities run with `DELETE`.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.destructive = Some(destructive);
        self
    }

    /// Declares whether repeated runs with the same input have no further effect.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// Lists the ability over REST and allows clients to run it.
    #[must_use]
    pub fn in_rest(mut self) -> Self {
        self.show_in_rest = true;
        self
    }

    /// Marks the ability as suitable for any kind of client, and lists it over REST.
    #[must_use]
    pub fn public(mut self) -> Self {
        self.is_public = true;
        self.in_rest()
    }

    /// Adds a value to the public metadata, next to the annotations.
    #[must_use]
    pub fn meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the permission callback.
    #[must_use]
    pub fn permission(mut self, permission: impl Fn(&AbilityCall) -> bool + Send + Sync + 'static) -> Self {
        self.permission = Arc::new(permission);
        self
    }

    /// Sets the function that runs.
    #[must_use]
    pub fn execute<F, Fut>(mut self, execute: F) -> Self
    where
        F: Fn(AbilityCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value>> + Send + 'static,
    {
        self.execute = Arc::new(move |call| Box::pin(execute(call)));
        self
    }

    /// The HTTP method that runs the ability.
    pub fn method(&self) -> Method {
        match (self.readonly, self.destructive, self.idempotent) {
            (Some(true), ..) => Method::GET,
            (_, Some(true), Some(true)) => Method::DELETE,
            _ => Method::POST,
        }
    }

    /// The public metadata with annotations.
    pub(crate) fn annotated_meta(&self) -> Value {
        let mut meta = self.meta.clone();
        let annotations =
            json!({"readonly": self.readonly, "destructive": self.destructive, "idempotent": self.idempotent});
        meta.insert("annotations".to_owned(), annotations);
        let flags = [("public", self.is_public), ("show_in_rest", self.show_in_rest)];
        // As in WordPress, a value that was registered comes before a default.
        let flags = if self.is_public { flags } else { [flags[1], flags[0]] };
        meta.extend(flags.map(|(name, value)| (name.to_owned(), value.into())));
        Value::Object(meta)
    }

    /// Validates and sanitizes the input.
    ///
    /// # Errors
    /// `ability_invalid_input` and `ability_missing_input_schema` (400).
    pub(crate) fn parse_input(&self, input: Value) -> Result<Value> {
        let Some(schema) = &self.input else {
            if input.is_null() {
                return Ok(input);
            }
            let text = format!("The ability {} does not accept input.", self.name);
            return Err(Error::new("ability_missing_input_schema", text).with_status(400));
        };
        let input = match (input, schema.default()) {
            (Value::Null, Some(default)) => default.clone(),
            (input, _) => input,
        };
        let invalid_input = |why: Error| {
            let text = format!("Invalid input for the ability {}: {}", self.name, why.message());
            Error::new("ability_invalid_input", text).with_status(400)
        };
        schema.validate(&input, "input").map_err(invalid_input)?;
        schema.sanitize(input, "input").map_err(invalid_input)
    }

    /// Runs the ability's function.
    ///
    /// # Errors
    /// Errors of the function, and `ability_invalid_output` if the result does not match the output schema.
    pub(crate) async fn run(&self, call: AbilityCall) -> Result<Value> {
        let output = (self.execute)(call).await?;
        if let Some(schema) = &self.output
            && let Err(why) = schema.validate(&output, "output")
        {
            tracing::warn!(
                ability = self.name,
                why = why.message(),
                "the output of an ability does not match its schema"
            );
            return Err(Error::new(
                "ability_invalid_output",
                "The ability returned a value that does not match its output schema.",
            ));
        }
        Ok(output)
    }
}

/// The abilities of a site and their categories, in the order of registration.
#[derive(Clone, Default)]
pub struct Abilities {
    pub(crate) categories: IndexMap<String, AbilityCategory>,
    pub(crate) abilities: IndexMap<String, Ability>,
}

impl Abilities {
    /// Adds a category, or replaces the one with the same slug.
    pub fn register_category(&mut self, category: AbilityCategory) {
        self.categories.insert(category.slug.clone(), category);
    }

    /// Adds an ability, or replaces the one with the same name. Returns `false` and does nothing if its category is not
    /// registered.
    pub fn register(&mut self, ability: Ability) -> bool {
        let has_category = self.categories.contains_key(&ability.category);
        if has_category {
            self.abilities.insert(ability.name.clone(), ability);
        } else {
            tracing::warn!(
                ability = ability.name,
                category = ability.category,
                "an ability of an unregistered category was ignored"
            );
        }
        has_category
    }

    /// The ability of this name, if it is listed over REST.
    pub(crate) fn served(&self, name: &str) -> Option<&Ability> {
        self.abilities.get(name).filter(|ability| ability.show_in_rest)
    }
}

#[cfg(test)]
mod tests {
    use svc_schema::build::{integer, object};

    use super::*;

    #[test]
    fn method_follows_from_the_annotations() {
        let bare = || Ability::new("a/b", "c", "");
        for (ability, method) in [
            (bare(), Method::POST),
            (bare().readonly(false).idempotent(true), Method::POST),
            (bare().readonly(true).destructive(true).idempotent(true), Method::GET),
            (bare().destructive(true), Method::POST),
            (bare().destructive(true).idempotent(true), Method::DELETE),
        ] {
            assert_eq!(ability.method(), method, "{}", ability.annotated_meta());
        }
    }

    #[test]
    fn input_is_validated_and_sanitized() {
        let none = Ability::new("a/none", "c", "");
        let number = Ability::new("a/number", "c", "").input_schema(object([("n", integer().required())]));
        let default =
            Ability::new("a/default", "c", "").input_schema(object([("n", integer())]).default(json!({"n": 7})));
        #[rustfmt::skip]
        let rows = [
            (&none, Value::Null, Ok(Value::Null)),
            (&none, json!(1), Err("ability_missing_input_schema")),
            (&number, json!({"n": "3"}), Ok(json!({"n": 3}))),
            (&number, json!({"n": "x"}), Err("ability_invalid_input")),
            (&number, json!({}), Err("ability_invalid_input")),
            (&number, Value::Null, Err("ability_invalid_input")),
            (&default, Value::Null, Ok(json!({"n": 7}))),
            (&default, json!({}), Ok(json!({}))),
        ];
        for (ability, input, expected) in rows {
            let accepted = ability.parse_input(input.clone()).map_err(|e| e.code().to_owned());
            assert_eq!(accepted, expected.map_err(str::to_owned), "{} {input}", ability.name);
        }
    }

    #[test]
    fn rejects_abilities_without_a_registered_category() {
        let mut all = Abilities::default();
        assert!(!all.register(Ability::new("a/b", "nowhere", "")));
        all.register_category(AbilityCategory::new("somewhere", "Somewhere"));
        assert!(all.register(Ability::new("a/b", "somewhere", "")));
        assert!(all.served("a/b").is_none(), "not listed over REST by default");
        assert!(all.register(Ability::new("a/b", "somewhere", "").in_rest()) && all.served("a/b").is_some());
    }
}
