//! `[[meta]]`: meta fields.

use serde::Deserialize;
use serde_json::{Map, Value};
use svc_site::MetaField;
use validator::{Validate, ValidationError};

use super::{
    TableEntry,
    checks::{check_kind, require},
};

/// Objects that have meta.
const OBJECTS: [&str; 4] = ["post", "term", "user", "comment"];

/// `[[meta]]`
#[derive(Clone, Debug, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
#[validate(schema(function = "check_queryable", skip_on_field_errors = false))]
pub(super) struct MetaEntry {
    #[validate(custom(function = "check_object"))]
    pub(super) object: String,
    #[serde(default)]
    pub(super) of: String,
    #[validate(length(min = 1, max = 255, message = "`key` must have 1 to 255 characters"))]
    key: String,
    #[serde(rename = "type")]
    #[validate(custom(function = "check_kind"))]
    kind: String,
    name: Option<String>,
    #[serde(default)]
    description: String,
    default: Option<Value>,
    #[serde(default)]
    list: bool,
    #[serde(default)]
    revisions: bool,
    #[serde(default)]
    queryable: bool,
    capability: Option<String>,
    #[serde(default)]
    schema: Map<String, Value>,
}

impl TableEntry for MetaEntry {
    const FIELDS: &'static [&'static str] = &["object", "key", "kind", "__all__"];

    fn is_same(&self, other: &Self) -> bool {
        (&self.object, &self.of, &self.key) == (&other.object, &other.of, &other.key)
    }
}

fn check_object(object: &str) -> Result<(), ValidationError> {
    require(OBJECTS.contains(&object), || format!("the object `{object}` must be one of {}", OBJECTS.join(", ")))
}

/// Lists of posts can be filtered by values that everybody who reads the post sees, and that can be compared.
fn check_queryable(entry: &MetaEntry) -> Result<(), ValidationError> {
    if !entry.queryable {
        return Ok(());
    }
    require(entry.object == "post", || "only meta of posts can be `queryable`".to_owned())?;
    require(!entry.key.starts_with('_'), || {
        "a key that begins with `_` is protected and cannot be `queryable`".to_owned()
    })?;
    require(!matches!(entry.kind.as_str(), "array" | "object"), || {
        format!("meta of the type `{}` cannot be `queryable`", entry.kind)
    })?;
    require(entry.field().query_type().is_some(), || {
        "meta whose schema has another type, or not the context `view`, cannot be `queryable`".to_owned()
    })
}

impl MetaEntry {
    pub(super) fn field(&self) -> MetaField {
        let mut field = MetaField::new(&self.key, &self.kind).describe(&self.description);
        if !self.schema.is_empty() {
            field = field.schema(Value::Object(self.schema.clone()));
        }
        if let Some(default) = &self.default {
            field = field.default(default.clone());
        }
        if let Some(name) = &self.name {
            field = field.named(name);
        }
        if self.list {
            field = field.list();
        }
        if self.revisions {
            field = field.with_revisions();
        }
        if self.queryable {
            field = field.queryable();
        }
        match &self.capability {
            Some(capability) => field.guarded_by(capability),
            None => field,
        }
    }
}
