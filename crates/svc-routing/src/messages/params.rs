//! The sources of a request's parameters, and their precedence.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Map;

/// One source of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamSource {
    /// Named groups of the route's pattern.
    Url,
    /// Properties of a JSON body.
    Json,
    /// Fields of a form or multipart body.
    Body,
    /// The query string.
    Query,
    /// Defaults of the endpoint's arguments.
    Defaults,
}

/// The precedence of sources that have the same parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamOrder {
    /// The URL, then JSON body, form body, query, defaults: a value that the pattern matched cannot be overridden.
    #[default]
    UrlFirst,
    /// JSON body, form body, query, then the URL, defaults, as in WordPress. Permission and handler still use the same
    /// value, because parameters are parsed once.
    UrlLast,
}

impl ParamOrder {
    fn sources(self, body_in_use: bool) -> &'static [ParamSource] {
        use ParamSource::*;
        match (self, body_in_use) {
            (ParamOrder::UrlFirst, true) => &[Url, Json, Body, Query, Defaults],
            (ParamOrder::UrlFirst, false) => &[Url, Json, Query, Defaults],
            (ParamOrder::UrlLast, true) => &[Json, Body, Query, Url, Defaults],
            (ParamOrder::UrlLast, false) => &[Json, Query, Url, Defaults],
        }
    }
}

/// The parameters of a body. Cheap to clone: the body is stored once, and changed values separately.
///
/// The parameters of a JSON body are the properties of an object, the items of a list by index, or a scalar under the
/// name `0`, as in PHP.
#[derive(Clone, Debug, Default)]
pub struct BodyParams {
    body: Option<Arc<Value>>,
    changed: Map,
}

impl BodyParams {
    /// The parameters of this body.
    pub fn new(body: Value) -> Self {
        BodyParams { body: Some(Arc::new(body)), changed: Map::new() }
    }

    /// The body, as sent.
    pub fn body(&self) -> Option<&Value> {
        self.body.as_deref()
    }

    fn sent(&self, name: &str) -> Option<&Value> {
        match self.body()? {
            Value::Object(map) => map.get(name),
            Value::Array(list) => list.get(index(name)?),
            Value::Null => None,
            single => (name == "0").then_some(single),
        }
    }

    /// One parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.changed.get(name).or_else(|| self.sent(name))
    }

    /// Whether there is a parameter of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Adds or replaces a parameter.
    pub fn insert(&mut self, name: String, value: Value) {
        self.changed.insert(name, value);
    }

    /// All parameters. Those that were sent come first, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, &Value)> {
        let body = self.body();
        let object = body.and_then(Value::as_object).into_iter().flatten();
        let list = body.and_then(Value::as_array).into_iter().flatten().enumerate();
        let single = body.filter(|body| !matches!(body, Value::Object(_) | Value::Array(_) | Value::Null));
        let sent = object
            .map(|(name, value)| (Cow::Borrowed(name.as_str()), value))
            .chain(list.map(|(idx, value)| (Cow::Owned(idx.to_string()), value)))
            .chain(single.map(|value| (Cow::Borrowed("0"), value)))
            .map(|(name, value)| {
                let value = self.changed.get(&*name).unwrap_or(value);
                (name, value)
            });
        let added = self.changed.iter().filter(|(name, _)| self.sent(name).is_none());
        sent.chain(added.map(|(name, value)| (Cow::Borrowed(name.as_str()), value)))
    }
}

impl From<Map> for BodyParams {
    fn from(map: Map) -> Self {
        if map.is_empty() { BodyParams::default() } else { BodyParams::new(Value::Object(map)) }
    }
}

impl Serialize for BodyParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Parses an index in the only form that PHP accepts as an array index.
fn index(name: &str) -> Option<usize> {
    let is_number =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    if is_number { name.parse().ok() } else { None }
}

/// The parameters of a request by source. Cheap to clone: a source is copied when one of its parameters changes.
#[derive(Clone, Debug, Default)]
pub struct Params {
    pub(crate) order: ParamOrder,
    /// Whether form fields are parameters for the request's method.
    pub(crate) body_in_use: bool,
    /// Named groups of the pattern.
    pub url: Arc<Map>,
    /// The JSON body.
    pub json: BodyParams,
    /// Fields of the form.
    pub body: BodyParams,
    /// The query string.
    pub query: Arc<Map>,
    /// Defaults of the arguments.
    pub defaults: Arc<Map>,
}

impl Params {
    /// A parameter of one source.
    pub(crate) fn get_from(&self, source: ParamSource, name: &str) -> Option<&Value> {
        match source {
            ParamSource::Url => self.url.get(name),
            ParamSource::Json => self.json.get(name),
            ParamSource::Body => self.body.get(name),
            ParamSource::Query => self.query.get(name),
            ParamSource::Defaults => self.defaults.get(name),
        }
    }

    pub(crate) fn insert(&mut self, source: ParamSource, name: String, value: Value) {
        match source {
            ParamSource::Url => _ = Arc::make_mut(&mut self.url).insert(name, value),
            ParamSource::Json => self.json.insert(name, value),
            ParamSource::Body => self.body.insert(name, value),
            ParamSource::Query => _ = Arc::make_mut(&mut self.query).insert(name, value),
            ParamSource::Defaults => _ = Arc::make_mut(&mut self.defaults).insert(name, value),
        }
    }

    /// The parameters that the request contains, without defaults: of one name, the value of the source with the highest precedence first.
    pub fn sent_values(&self) -> impl Iterator<Item = (Cow<'_, str>, &Value)> {
        self.sent().map(|(_, name, value)| (name, value))
    }

    /// The defaults.
    pub fn default_values(&self) -> impl Iterator<Item = (Cow<'_, str>, &Value)> {
        self.defaults.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), value))
    }

    /// All parameters of one source.
    pub(crate) fn all_from(&self, source: ParamSource) -> Box<dyn Iterator<Item = (Cow<'_, str>, &Value)> + '_> {
        let plain = |(name, value)| -> (Cow<'_, str>, &Value) { (Cow::Borrowed(String::as_str(name)), value) };
        match source {
            ParamSource::Url => Box::new(self.url.iter().map(plain)),
            ParamSource::Json => Box::new(self.json.iter()),
            ParamSource::Body => Box::new(self.body.iter()),
            ParamSource::Query => Box::new(self.query.iter().map(plain)),
            ParamSource::Defaults => Box::new(self.defaults.iter().map(plain)),
        }
    }

    /// The sources, highest precedence first.
    pub(crate) fn sources(&self) -> &'static [ParamSource] {
        self.order.sources(self.body_in_use)
    }

    /// The parameters that the request contains, in all sources but the defaults, highest precedence first.
    pub(crate) fn sent(&self) -> impl Iterator<Item = (ParamSource, Cow<'_, str>, &Value)> {
        let sources = self.sources().iter().copied().filter(|source| *source != ParamSource::Defaults);
        sources.flat_map(|source| self.all_from(source).map(move |(name, value)| (source, name, value)))
    }

    /// The value of a parameter that the request contains; `None` if it is absent or `null` in all sources but the
    /// defaults.
    pub(crate) fn get_sent(&self, name: &str) -> Option<&Value> {
        let sources = self.sources().iter().filter(|source| **source != ParamSource::Defaults);
        sources.filter_map(|source| self.get_from(*source, name)).find(|value| !value.is_null())
    }

    /// The value of a parameter; `None` if it is absent or `null` in all sources. A `null` counts as absent, so a
    /// source of lower precedence provides the value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.sources().iter().find_map(|s| self.get_from(*s, name).filter(|v| !v.is_null()))
    }

    /// Whether any source has the parameter, even as `null`.
    pub fn has(&self, name: &str) -> bool {
        self.sources().iter().any(|s| self.get_from(*s, name).is_some())
    }

    /// All parameters; sources of higher precedence override others. The order starts with the source of lowest
    /// precedence.
    pub fn merged(&self) -> Map {
        let mut out = Map::new();
        for source in self.sources().iter().rev() {
            for (name, value) in self.all_from(*source) {
                out.insert(name.into_owned(), value.clone());
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn body_parameters() {
        #[rustfmt::skip]
        let rows = [
            (json!({"a": 1, "0": 2}), vec![("a", Some(json!(1))), ("0", Some(json!(2))), ("1", None)], r#"{"a":1,"0":2}"#),
            (json!(["x", "y"]), vec![("0", Some(json!("x"))), ("1", Some(json!("y"))), ("2", None), ("01", None), ("+1", None), ("", None)], r#"{"0":"x","1":"y"}"#),
            (json!("x"), vec![("0", Some(json!("x"))), ("1", None)], r#"{"0":"x"}"#),
            (json!(null), vec![("0", None)], "{}"),
        ];
        for (body, names, all) in rows {
            let sent = BodyParams::new(body.clone());
            for (name, value) in names {
                assert_eq!(sent.get(name), value.as_ref(), "{body} {name}");
                assert_eq!(sent.contains_key(name), value.is_some(), "{body} {name}");
            }
            assert_eq!(serde_json::to_string(&sent).unwrap(), all);
        }
    }

    #[test]
    fn parameters_of_all_sources() {
        let map = |value: Value| Arc::new(value.as_object().cloned().unwrap_or_default());
        let mut params = Params {
            body_in_use: true,
            query: map(json!({"a": "query", "b": "query", "c": "query"})),
            body: BodyParams::new(json!({"a": "form", "b": null})),
            defaults: map(json!({"a": "default", "c": null, "d": "default"})),
            ..Params::default()
        };
        let sent = |params: &Params| {
            ["a", "b", "c", "d"].map(|name| params.get_sent(name).and_then(Value::as_str).map(str::to_owned))
        };
        let own = |text: &str| Some(text.to_owned());
        assert_eq!(sent(&params), [own("form"), own("query"), own("query"), None]);
        assert_eq!(params.sent_values().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "a", "b", "c"]);
        assert_eq!(params.default_values().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "c", "d"]);
        let merged = json!({"a": "form", "c": "query", "d": "default", "b": null});
        assert_eq!(Value::Object(params.merged()), merged);
        // Without a form, its fields do not count.
        params.body_in_use = false;
        assert_eq!(sent(&params), [own("query"), own("query"), own("query"), None]);
    }

    #[test]
    fn changed_values_replace_sent_ones() {
        let mut sent = BodyParams::new(json!({"a": " 1", "b": 2}));
        let copy = sent.clone();
        sent.insert("a".to_owned(), json!("1"));
        sent.insert("c".to_owned(), json!(3));
        assert_eq!(serde_json::to_string(&sent).unwrap(), r#"{"a":"1","b":2,"c":3}"#);
        assert_eq!((sent.get("a"), copy.get("a")), (Some(&json!("1")), Some(&json!(" 1"))));
        assert_eq!(sent.body(), Some(&json!({"a": " 1", "b": 2})));
    }
}
