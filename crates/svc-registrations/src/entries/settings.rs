//! `[[settings]]`: options that the REST API's settings have.

use serde::Deserialize;
use serde_json::{Map, Value};
use svc_controllers::RegisteredSetting;
use svc_schema::build::{SchemaBuilder, untyped};
use validator::Validate;

use super::{TableEntry, checks::check_kind};

/// `[[settings]]`
#[derive(Clone, Debug, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingEntry {
    #[validate(length(min = 1, max = 191, message = "`option` must have 1 to 191 characters"))]
    option: String,
    #[serde(rename = "type")]
    #[validate(custom(function = "check_kind"))]
    kind: String,
    name: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    default: Option<Value>,
    /// Whether responses have a mask in place of the value.
    #[serde(default)]
    secret: bool,
    #[serde(default)]
    schema: Map<String, Value>,
}

impl TableEntry for SettingEntry {
    const FIELDS: &'static [&'static str] = &["option", "kind"];

    fn is_same(&self, other: &Self) -> bool {
        self.option == other.option
    }
}

impl SettingEntry {
    pub(super) fn setting(&self) -> RegisteredSetting {
        let mut schema: SchemaBuilder = untyped().keyword("type", self.kind.as_str());
        schema = schema.title(&self.title).describe(&self.description);
        for (name, value) in &self.schema {
            schema = schema.keyword(name, value.clone());
        }
        if let Some(default) = &self.default {
            schema = schema.default(default.clone());
        }
        let setting = RegisteredSetting::new(&self.option, schema);
        let setting = if self.secret { setting.secret() } else { setting };
        match &self.name {
            Some(name) => setting.named(name),
            None => setting,
        }
    }
}
