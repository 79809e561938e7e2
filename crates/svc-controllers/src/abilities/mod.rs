//! Abilities: things that a site can do, registered by code, told to clients with the shapes of what they take and give,
//! and run by them.
//!
//! An [`Ability`] is a name, texts for people, two schemas, a permission and a function. Input is checked and cleaned by
//! its schema before permission and function see it; output is checked before a client sees it.

mod core;
mod routes;

use std::{future::Future, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use svc_auth::Caller;
use svc_routing::{BoxFuture, Method, Request, Result};
use svc_schema::{Error, Schema};

use crate::RestSite;

pub use self::routes::AbilityRoutes;

/// What an ability is run with.
#[derive(Clone)]
pub struct AbilityCall {
    /// The site.
    pub site: Arc<RestSite>,
    /// Who asks.
    pub caller: Caller,
    /// The input, as its schema has it; null when there is none.
    pub input: Value,
    /// The request that asks.
    pub request: Request,
}

type Permission = Arc<dyn Fn(&AbilityCall) -> bool + Send + Sync>;
type Execute = Arc<dyn Fn(AbilityCall) -> BoxFuture<Result<Value>> + Send + Sync>;

/// A heading that abilities stand under.
#[derive(Clone, Debug, PartialEq)]
pub struct AbilityCategory {
    slug: String,
    label: String,
    description: String,
    meta: Map<String, Value>,
}

impl AbilityCategory {
    /// A category with its name for programs and what people call it.
    pub fn new(slug: &str, label: &str) -> Self {
        AbilityCategory { slug: slug.to_owned(), label: label.to_owned(), description: String::new(), meta: Map::new() }
    }

    /// Says what the abilities under it are about.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// Adds a value that clients see.
    #[must_use]
    pub fn meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }
}

/// Something that a site can do. Without more it is refused to everybody, gives null and is not told to clients.
#[derive(Clone)]
pub struct Ability {
    name: String,
    label: String,
    description: String,
    category: String,
    input: Option<Schema>,
    output: Option<Schema>,
    readonly: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    is_public: bool,
    show_in_rest: bool,
    meta: Map<String, Value>,
    permission: Permission,
    execute: Execute,
}

impl Ability {
    /// An ability with its name (`acme/make-coffee`), its category and what people call it.
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

    /// Says what it does.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// Takes input of this shape; a `default` in it stands for input that is not given.
    #[must_use]
    pub fn takes(mut self, schema: impl Into<Value>) -> Self {
        self.input = Some(Schema::compile(schema.into()));
        self
    }

    /// Gives output of this shape.
    #[must_use]
    pub fn gives(mut self, schema: impl Into<Value>) -> Self {
        self.output = Some(Schema::compile(schema.into()));
        self
    }

    /// Says whether it only reads; such abilities are run with `GET`.
    #[must_use]
    pub fn readonly(mut self, readonly: bool) -> Self {
        self.readonly = Some(readonly);
        self
    }

    /// Says whether it may destroy; such abilities that are idempotent too are run with `DELETE`.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.destructive = Some(destructive);
        self
    }

    /// Says whether running it again with the same input changes nothing more.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// Tells clients of it, and lets them run it.
    #[must_use]
    pub fn in_rest(mut self) -> Self {
        self.show_in_rest = true;
        self
    }

    /// Marks it as made for clients of any kind.
    #[must_use]
    pub fn public(mut self) -> Self {
        self.is_public = true;
        self.in_rest()
    }

    /// Adds a value that clients see beside the annotations.
    #[must_use]
    pub fn meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }

    /// Says who may run it.
    #[must_use]
    pub fn allowed(mut self, permission: impl Fn(&AbilityCall) -> bool + Send + Sync + 'static) -> Self {
        self.permission = Arc::new(permission);
        self
    }

    /// Says what it does when it is run.
    #[must_use]
    pub fn runs<F, Fut>(mut self, execute: F) -> Self
    where
        F: Fn(AbilityCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value>> + Send + 'static,
    {
        self.execute = Arc::new(move |call| Box::pin(execute(call)));
        self
    }

    /// The method that it is run with.
    pub fn method(&self) -> Method {
        match (self.readonly, self.destructive, self.idempotent) {
            (Some(true), ..) => Method::GET,
            (_, Some(true), Some(true)) => Method::DELETE,
            _ => Method::POST,
        }
    }

    /// What clients see beside the texts and schemas.
    fn annotated_meta(&self) -> Value {
        let mut meta = self.meta.clone();
        let annotations =
            json!({"readonly": self.readonly, "destructive": self.destructive, "idempotent": self.idempotent});
        meta.insert("annotations".to_owned(), annotations);
        meta.insert("show_in_rest".to_owned(), self.show_in_rest.into());
        meta.insert("public".to_owned(), self.is_public.into());
        Value::Object(meta)
    }

    /// The input, checked and cleaned.
    ///
    /// # Errors
    /// `ability_invalid_input` and `ability_missing_input_schema` (400).
    fn accept(&self, input: Value) -> Result<Value> {
        let Some(schema) = &self.input else {
            if input.is_null() {
                return Ok(input);
            }
            let text = format!("The ability {} takes no input.", self.name);
            return Err(Error::new("ability_missing_input_schema", text).with_status(400));
        };
        let input = match (input, schema.default()) {
            (Value::Null, Some(default)) => default.clone(),
            (input, _) => input,
        };
        let refused = |why: Error| {
            let text = format!("The ability {} cannot take this input: {}", self.name, why.message());
            Error::new("ability_invalid_input", text).with_status(400)
        };
        schema.validate(&input, "input").map_err(refused)?;
        schema.sanitize(input, "input").map_err(refused)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Those of its function; `ability_invalid_output` when what that gives is not of the shape that was promised.
    async fn run(&self, call: AbilityCall) -> Result<Value> {
        let output = (self.execute)(call).await?;
        if let Some(schema) = &self.output
            && let Err(why) = schema.validate(&output, "output")
        {
            tracing::warn!(ability = self.name, why = why.message(), "an ability gave what it had not promised");
            return Err(Error::new("ability_invalid_output", "The ability gave something else than it promises."));
        }
        Ok(output)
    }
}

/// The abilities of a site and their categories, in the order of registration.
#[derive(Clone)]
pub struct Abilities {
    categories: IndexMap<String, AbilityCategory>,
    abilities: IndexMap<String, Ability>,
}

impl Default for Abilities {
    /// Those that every site has: to tell of itself, of its caller, and of what it runs on.
    fn default() -> Self {
        let mut all = Abilities { categories: IndexMap::new(), abilities: IndexMap::new() };
        core::register(&mut all);
        all
    }
}

impl Abilities {
    /// Adds a category, or replaces the one of the same name.
    pub fn categorize(&mut self, category: AbilityCategory) {
        self.categories.insert(category.slug.clone(), category);
    }

    /// Adds an ability, or replaces the one of the same name. Abilities of a category that is not there are not added:
    /// whether it was.
    pub fn register(&mut self, ability: Ability) -> bool {
        let is_known = self.categories.contains_key(&ability.category);
        if is_known {
            self.abilities.insert(ability.name.clone(), ability);
        } else {
            tracing::warn!(ability = ability.name, category = ability.category, "an ability of an unknown category");
        }
        is_known
    }

    /// The ability of this name that clients are told of.
    fn served(&self, name: &str) -> Option<&Ability> {
        self.abilities.get(name).filter(|ability| ability.show_in_rest)
    }
}

#[cfg(test)]
mod tests {
    use svc_schema::build::{integer, object};

    use super::*;

    #[test]
    fn annotations_decide_the_method() {
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
    fn input_is_checked_and_cleaned() {
        let none = Ability::new("a/none", "c", "");
        let number = Ability::new("a/number", "c", "").takes(object([("n", integer().required())]));
        let default = Ability::new("a/default", "c", "").takes(object([("n", integer())]).default(json!({"n": 7})));
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
        for (ability, given, expected) in rows {
            let accepted = ability.accept(given.clone()).map_err(|e| e.code().to_owned());
            assert_eq!(accepted, expected.map_err(str::to_owned), "{} {given}", ability.name);
        }
    }

    #[test]
    fn abilities_need_their_category() {
        let mut all = Abilities::default();
        assert!(!all.register(Ability::new("a/b", "nowhere", "")));
        all.categorize(AbilityCategory::new("somewhere", "Somewhere"));
        assert!(all.register(Ability::new("a/b", "somewhere", "")));
        assert!(all.served("a/b").is_none(), "not told to clients unless it says so");
        assert!(all.register(Ability::new("a/b", "somewhere", "").in_rest()) && all.served("a/b").is_some());
    }
}
