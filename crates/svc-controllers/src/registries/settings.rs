//! Settings of the REST API: an option, its public name and its schema.

use serde_json::{Value, json};
use svc_schema::{Schema, build::SchemaBuilder};
use svc_store::StoredText;

/// Sanitizes a value before it is stored; `None` keeps the stored value.
type SanitizeSetting = fn(Value) -> Option<Value>;

/// A setting of the REST API.
#[derive(Clone)]
pub struct RegisteredSetting {
    pub(crate) option: String,
    pub(crate) name: String,
    default: Value,
    pub(crate) clean: SanitizeSetting,
    pub(crate) source: Value,
    pub(crate) schema: Schema,
}

impl RegisteredSetting {
    /// A setting with the name of its option. A missing option is returned as the schema's default.
    pub fn new(option: &str, schema: SchemaBuilder) -> Self {
        let mut source = Value::from(schema);
        let default = source.get("default").cloned().unwrap_or(Value::Null);
        if let Some(source) = source.as_object_mut() {
            for missing in ["title", "description"] {
                source.entry(missing).or_insert_with(|| json!(""));
            }
            source.insert("default".to_owned(), default.clone());
        }
        let source = svc_schema::default_additional_properties_to_false(source);
        RegisteredSetting {
            option: option.to_owned(),
            name: option.to_owned(),
            default,
            clean: Some,
            schema: Schema::compile(source.clone()),
            source,
        }
    }

    /// Sets another public name.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Sanitizes values before they are stored; `None` keeps the stored value.
    pub fn sanitize_with(mut self, clean: SanitizeSetting) -> Self {
        self.clean = clean;
        self
    }

    /// The value of a stored text; null if it does not match the schema.
    pub(crate) fn value_of(&self, stored: Option<&StoredText>) -> Value {
        let Some(stored) = stored else { return self.default.clone() };
        let value = stored.json();
        if self.schema.validate(&value, &self.name).is_err() {
            return Value::Null;
        }
        svc_php::list::list_shapes(self.schema.sanitize(value, &self.name).unwrap_or(Value::Null))
    }
}
