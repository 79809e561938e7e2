//! Additional fields: extensions add them to the objects of a resource.

use std::future::Future;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;
use svc_schema::{FieldSet, Schema};

use crate::handler::BoxFuture;
use crate::{DependsOn, Map, Request, Result};

/// Identifies the object whose field is set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectId {
    /// An object with a numeric id.
    Id(u64),
    /// An object with a string id.
    Name(String),
}

impl From<u64> for ObjectId {
    fn from(id: u64) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for ObjectId {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

type Getter = Arc<dyn Fn(Map, Request) -> BoxFuture<Result<Value>> + Send + Sync>;
type Setter = Arc<dyn Fn(Value, ObjectId, Request) -> BoxFuture<Result<()>> + Send + Sync>;

/// A field added by an extension. Its functions run after the built-in fields, on the prepared object, and may wait.
///
/// Without a schema it is not in the item schema, without `get` it is not returned, without `update` it cannot be set.
#[derive(Clone, Default)]
pub struct ExtraField {
    schema: Option<Schema>,
    get: Option<Getter>,
    update: Option<Setter>,
    depends_on: DependsOn,
    needs: Vec<String>,
}

impl ExtraField {
    /// A field with this schema.
    pub fn new(schema: Schema) -> Self {
        Self { schema: Some(schema), ..Self::default() }
    }

    /// A field without a schema.
    pub fn without_schema() -> Self {
        Self::default()
    }

    /// Sets the function that reads the field from the prepared object.
    #[must_use]
    pub fn get<F>(mut self, f: impl Fn(Map, Request) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value>> + Send + 'static,
    {
        self.get = Some(Arc::new(move |item, req| Box::pin(f(item, req))));
        self
    }

    /// Declares what the function that reads the field depends on. By default this is unknown, so that responses with the
    /// field are not cached.
    ///
    /// ```
    /// # use svc_routing::{DependsOn, ExtraField, Registry};
    /// # use serde_json::Value;
    /// let length = |item: svc_routing::Map, _| {
    ///     let text = item.get("title").and_then(|title| title["rendered"].as_str()).map_or(0, str::len);
    ///     async move { Ok(Value::from(text)) }
    /// };
    /// let field = ExtraField::without_schema().get(length).depends_on(DependsOn::Object);
    /// Registry::new().field(&["post"], "title_length", field);
    /// ```
    #[must_use]
    pub fn depends_on(mut self, inputs: DependsOn) -> Self {
        self.depends_on = inputs;
        self
    }

    /// Declares the fields of the object that the function reads, such as `content.rendered`. A request whose `_fields` selects this
    /// field then prepares them too, and returns them only if it selects them. Without it, the function only gets the
    /// fields that the request selects, and `id`.
    #[must_use]
    pub fn needs(mut self, fields: &[&str]) -> Self {
        self.needs = fields.iter().map(|field| (*field).to_owned()).collect();
        self
    }

    /// Sets the function that writes the field.
    #[must_use]
    pub fn update<F>(mut self, f: impl Fn(Value, ObjectId, Request) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.update = Some(Arc::new(move |value, id, req| Box::pin(f(value, id, req))));
        self
    }

    /// The schema, if there is one.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// Whether the field can be read.
    pub fn is_readable(&self) -> bool {
        self.get.is_some()
    }
}

/// The additional fields by object type, in order of registration.
#[derive(Clone, Default)]
pub struct ExtraFields(Arc<IndexMap<String, IndexMap<String, ExtraField>>>);

impl ExtraFields {
    pub(crate) fn insert(&mut self, object: &str, name: &str, field: ExtraField) {
        Arc::make_mut(&mut self.0).entry(object.to_owned()).or_default().insert(name.to_owned(), field);
    }

    /// Whether responses with these fields may be cached: what their functions depend on is known.
    pub(crate) fn are_cacheable(&self) -> bool {
        self.0.keys().all(|object| self.are_cacheable_for(object))
    }

    /// As `are_cacheable`, for the fields of an object type.
    pub fn are_cacheable_for(&self, object: &str) -> bool {
        self.of(object).all(|(_, field)| field.get.is_none() || field.depends_on != DependsOn::Unknown)
    }

    /// The readable fields whose functions depend on something unknown: each as `the field NAME of TYPE`.
    pub(crate) fn undeclared(&self) -> Vec<String> {
        let all =
            self.0.iter().flat_map(|(object, fields)| fields.iter().map(move |(name, field)| (object, name, field)));
        let undeclared = all.filter(|(.., field)| field.get.is_some() && field.depends_on == DependsOn::Unknown);
        undeclared.map(|(object, name, _)| format!("the field `{name}` of `{object}`")).collect()
    }

    /// The fields that the selected additional fields need, of all object types.
    pub fn needed_by<'a>(&'a self, selected: &'a FieldSet) -> impl Iterator<Item = &'a str> {
        let all = self.0.values().flatten().filter(|(_, field)| !field.needs.is_empty());
        let selected = all.filter(|(name, field)| field.get.is_some() && selected.is_included(name));
        selected.flat_map(|(_, field)| field.needs.iter().map(String::as_str))
    }

    /// The fields of an object type.
    pub fn of(&self, object: &str) -> impl Iterator<Item = (&str, &ExtraField)> {
        self.0.get(object).into_iter().flatten().map(|(name, field)| (name.as_str(), field))
    }

    /// Whether an object type has no additional fields.
    pub fn is_empty_for(&self, object: &str) -> bool {
        self.0.get(object).is_none_or(IndexMap::is_empty)
    }

    /// Adds the readable fields that the request selects to a prepared object.
    ///
    /// # Errors
    /// Returns the first error of the fields' functions.
    pub async fn add_to(&self, object: &str, item: &mut Map, req: &Request) -> Result<()> {
        self.add_where(object, item, req, &|_| true).await
    }

    /// As [`Self::add_to`], for fields that match the predicate (those that are visible in the context, for example).
    ///
    /// # Errors
    /// Returns the first error of the fields' functions.
    pub async fn add_where(
        &self,
        object: &str,
        item: &mut Map,
        req: &Request,
        is_included: &(dyn Fn(&ExtraField) -> bool + Sync),
    ) -> Result<()> {
        for (name, field) in self.of(object) {
            if let Some(get) = field.get.as_ref().filter(|_| req.wants(name) && is_included(field)) {
                let value = get(item.clone(), req.clone()).await?;
                item.insert(name.to_owned(), value);
            }
        }
        Ok(())
    }

    /// Writes the writable fields that the request contains, in order of registration.
    ///
    /// # Errors
    /// Returns the first error of the fields' functions. The fields after it are not written.
    pub async fn update(&self, object: &str, id: &ObjectId, req: &Request) -> Result<()> {
        for (name, field) in self.of(object) {
            if let (Some(update), Some(value)) = (&field.update, req.param(name)) {
                update(value.clone(), id.clone(), req.clone()).await?;
            }
        }
        Ok(())
    }
}
