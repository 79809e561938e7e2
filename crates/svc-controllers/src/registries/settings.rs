//! Settings of the REST API: an option, its public name and its schema. Secret values, such as keys of other services, are masked in
//! responses.

use serde_json::{Value, json};
use svc_schema::{Schema, build::SchemaBuilder};
use svc_site::SiteResult;
use svc_store::StoredText;

/// Sanitizes a value before it is stored; `None` keeps the stored value.
type SanitizeSetting = fn(Value) -> Option<Value>;

/// The character of masks.
const MASK: char = '\u{2022}';

/// Maximum number of masking characters of a key; the number of those of a password.
const MASK_LENGTH: usize = 16;

/// Characters at the end of a key that its mask shows.
const SHOWN: usize = 4;

/// The property with the secret of a setting that is an object.
const PASSWORD: &str = "password";

/// Whether an option holds a secret, by its name: settings of WordPress's connectors, and keys of services.
pub fn is_secret_option(option: &str) -> bool {
    option.starts_with("connectors_") || option.ends_with("_api_key")
}

/// A value without texts, of the same form: the default of a secret setting.
pub fn without_texts(value: &Value) -> Value {
    match value {
        Value::String(_) => json!(""),
        Value::Array(list) => list.iter().map(without_texts).collect(),
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), without_texts(value))).collect(),
        other => other.clone(),
    }
}

/// A setting of the REST API.
#[derive(Clone)]
pub struct RegisteredSetting {
    pub(crate) option: String,
    pub(crate) name: String,
    pub(crate) default: Value,
    pub(crate) clean: SanitizeSetting,
    pub(crate) source: Value,
    pub(crate) schema: Schema,
    is_secret: bool,
}

impl RegisteredSetting {
    /// Whether nobody but those who manage the site may know anything of the value.
    pub(crate) fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// A setting with the name of its option. A missing option is returned as the schema's default.
    pub fn new(option: &str, schema: SchemaBuilder) -> Self {
        let default = schema.source().get("default").cloned().unwrap_or(Value::Null);
        let mut schema = schema.default(default.clone());
        for missing in ["title", "description"] {
            if schema.source().get(missing).is_none() {
                schema = schema.keyword(missing, "");
            }
        }
        let source = Value::from(schema.first(&["type", "title", "description", "default"]));
        let source = svc_schema::default_additional_properties_to_false(source);
        let setting = RegisteredSetting {
            option: option.to_owned(),
            name: option.to_owned(),
            default,
            clean: Some,
            schema: Schema::compile(source.clone()),
            source,
            is_secret: false,
        };
        if is_secret_option(option) { setting.secret() } else { setting }
    }

    /// Masks the setting's texts in responses: those of a text setting, and the property `password` of an object. A default that is not
    /// empty would be public in the schema, so it is removed. Settings with names of API keys are secret without this.
    pub fn secret(mut self) -> Self {
        self.is_secret = true;
        self.default = without_texts(&self.default);
        if let Some(source) = self.source.as_object_mut() {
            source.insert("default".to_owned(), self.default.clone());
        }
        self.schema = Schema::compile(self.source.clone());
        self
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

    /// A value for a response.
    ///
    /// Source of the masks: `_wp_connectors_mask_api_key`, `_wp_connectors_rest_settings_dispatch`.
    pub(crate) fn masked(&self, value: Value) -> Value {
        match value {
            Value::String(key) if self.is_secret => masked_key(&key).into(),
            Value::Object(mut map) if self.is_secret => {
                if let Some(Value::String(password)) = map.get_mut(PASSWORD)
                    && !password.is_empty()
                {
                    *password = MASK.to_string().repeat(MASK_LENGTH);
                }
                map.into()
            }
            other => other,
        }
    }

    /// The value to store for one that a client sent; `None` if nothing changes, since it is the mask of a response. In an object,
    /// a masked password stands for the stored one.
    pub(crate) fn unmasked(
        &self,
        value: Value,
        stored: impl FnOnce() -> SiteResult<Value>,
    ) -> SiteResult<Option<Value>> {
        match value {
            Value::String(text) if self.is_secret && text.starts_with(MASK) => Ok(None),
            Value::Object(mut map) if self.is_secret => {
                if map.get(PASSWORD).and_then(Value::as_str).is_some_and(|text| text.starts_with(MASK)) {
                    let password = stored()?.get(PASSWORD).cloned().unwrap_or_else(|| json!(""));
                    map.insert(PASSWORD.to_owned(), password);
                }
                Ok(Some(map.into()))
            }
            other => Ok(Some(other)),
        }
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

/// A key whose last characters are visible. Lengths are those of PHP, in bytes; a key of at most four is returned as it is.
fn masked_key(key: &str) -> String {
    if key.len() <= SHOWN {
        return key.to_owned();
    }
    let hidden = key.len() - SHOWN;
    let shown = (hidden..key.len()).find(|at| key.is_char_boundary(*at)).map_or("", |at| &key[at..]);
    MASK.to_string().repeat(hidden.min(MASK_LENGTH)) + shown
}

#[cfg(test)]
mod tests {
    use svc_schema::build::{object, string};

    use super::*;

    #[test]
    fn keys_are_masked_as_in_wordpress() {
        // PHP: _wp_connectors_mask_api_key( $key )
        for (key, masked) in [
            ("", ""),
            ("abcd", "abcd"),
            ("abcde", "\u{2022}bcde"),
            ("abcdef123456", "\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}3456"),
            ("ab\u{e9}cd\u{e9}", "\u{2022}\u{2022}\u{2022}\u{2022}cd\u{e9}"),
        ] {
            assert_eq!(masked_key(key), masked, "{key}");
        }
        assert_eq!(masked_key(&"k".repeat(50)), "\u{2022}".repeat(16) + "kkkk");
    }

    #[test]
    fn settings_with_secrets() {
        let text = |option: &str| RegisteredSetting::new(option, string().default("initial-key"));
        for (option, is_secret) in [
            ("wordpress_api_key", true),
            ("shop_api_key", true),
            ("connectors_ai_openai_api_key", true),
            ("connectors_spam_x_application_password", true),
            ("blogname", false),
            ("api_keys", false),
        ] {
            let setting = text(option);
            assert_eq!(setting.masked(json!("abcdefgh")) != json!("abcdefgh"), is_secret, "{option}");
            assert_eq!(setting.source["default"], if is_secret { "" } else { "initial-key" }, "{option}");
            assert_eq!(setting.value_of(None), setting.source["default"], "{option}");
        }
        assert_ne!(text("mine").secret().masked(json!("abcdefgh")), json!("abcdefgh"));
        assert_eq!(text("mine").secret().masked(Value::Null), Value::Null);
    }

    #[test]
    fn passwords_in_objects() {
        let schema = object([("username", string()), ("password", string())]);
        let setting = RegisteredSetting::new("connectors_x_application_password", schema);
        let full = json!({"username": "ada", "password": "abcd efgh"});
        let masked = setting.masked(full.clone());
        assert_eq!(masked, json!({"username": "ada", "password": "\u{2022}".repeat(16)}));
        assert_eq!(setting.masked(json!({"password": ""})), json!({"password": ""}));
        let stored = full.clone();
        assert_eq!(setting.unmasked(masked.clone(), || Ok(stored)).unwrap(), Some(full));
        assert_eq!(
            setting.unmasked(masked, || Ok(Value::Bool(false))).unwrap(),
            Some(json!({"username": "ada", "password": ""}))
        );
    }
}
