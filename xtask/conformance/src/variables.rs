//! Variables of a scenario: steps capture values of responses, and later steps name them as `{{name}}`.

use anyhow::{Context, Result};
use fancy_regex::{Captures, Regex};
use serde_json::{Map, Value};

/// The values captured so far.
pub(crate) struct Variables {
    values: Map<String, Value>,
    name: Regex,
}

impl Variables {
    /// With `base`, the URL of the site.
    pub(crate) fn new(base: &str) -> Result<Self> {
        let values = [("base".to_owned(), base.into())].into_iter().collect();
        Ok(Variables { values, name: Regex::new(r"\{\{(\w+)\}\}").context("the pattern of variables can be read")? })
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// A text with its variables replaced; unknown ones are unchanged.
    pub(crate) fn text(&self, text: &str) -> String {
        let replace = |found: &Captures<'_, str>| {
            let name = found.get(1).map_or("", |m| m.as_str());
            match self.values.get(name) {
                Some(Value::String(value)) => value.clone(),
                Some(value) => value.to_string(),
                None => found.get(0).map_or("", |m| m.as_str()).to_owned(),
            }
        };
        if text.contains("{{") { self.name.replace_all(text, replace).into_owned() } else { text.to_owned() }
    }

    /// A value with the variables of its texts replaced. A text that is one variable becomes the variable's value.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let whole = text.strip_prefix("{{").and_then(|t| t.strip_suffix("}}"));
                whole.and_then(|name| self.values.get(name)).cloned().unwrap_or_else(|| self.text(text).into())
            }
            Value::Array(list) => list.iter().map(|v| self.value(v)).collect(),
            Value::Object(map) => map.iter().map(|(k, v)| (self.text(k), self.value(v))).collect(),
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_replaced_in_texts_and_single_ones_preserve_their_type() {
        let mut variables = Variables::new("http://h").unwrap();
        variables.set("id", json!(7));
        let value = json!({"{{id}}": ["{{id}}", "/{{id}}/{{other}}", "{{other}}", "{{base}}"]});
        assert_eq!(variables.value(&value), json!({"7": [7, "/7/{{other}}", "{{other}}", "http://h"]}));
    }
}
