//! `[[settings]]`: options that the REST API's settings have.

use serde::Deserialize;
use serde_json::{Map, Value};
use svc_controllers::{RegisteredSetting, site_settings};
use svc_schema::build::{SchemaBuilder, untyped};
use validator::{Validate, ValidationError};

use super::{
    TableEntry,
    checks::{check_kind, require},
};

/// `[[settings]]`
#[derive(Clone, Debug, PartialEq, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
#[validate(schema(function = "check_not_core"))]
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
    const FIELDS: &'static [&'static str] = &["option", "kind", "__all__"];

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

/// Settings of the core have checks of their own, so they cannot be replaced.
fn check_not_core(entry: &SettingEntry) -> Result<(), ValidationError> {
    let name = entry.name.as_deref().unwrap_or(&entry.option);
    let is_core = site_settings::core_options().iter().any(|[option, core]| *option == entry.option || core == name);
    require(!is_core, || format!("every site has a setting `{name}`"))
}
