//! The REST API's error: codes with messages and data, and its JSON form.
//!
//! Independent of HTTP types; a status is a plain number.

use std::fmt;

use serde_json::{Map, Value};
use svc_php::list::{TooManyItems, integer_key};

/// The status of an error without one (specification, "Errors", 1).
const DEFAULT_STATUS: u16 = 500;

/// A REST API error. It has codes in the order in which they were added; each has one or more messages, its current
/// data, and the data that it replaced.
///
/// As large as one pointer, so that results stay small.
#[derive(Clone, PartialEq)]
pub struct Error(Box<ErrorParts>);

#[derive(Clone, Default, PartialEq)]
struct ErrorParts {
    messages: Vec<(String, Vec<String>)>,
    data: Vec<CodeData>,
}

#[derive(Clone, PartialEq)]
struct CodeData {
    code: String,
    last: Value,
    earlier: Vec<Value>,
}

impl Error {
    /// An error with one code and one message, without data.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let mut error = Self::empty();
        error.0.messages.push((code.into(), vec![message.into()]));
        error
    }

    /// An error without codes, to [`add`](Self::add) to.
    pub fn empty() -> Self {
        Error(Box::default())
    }

    /// `rest_too_many_values` (413): a request with more values, or more items of lists in strings, than allowed.
    pub fn too_many_values() -> Self {
        Error::new("rest_too_many_values", "The request has too many values.").with_status(413)
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.0.messages.is_empty()
    }

    /// Sets the field `status` of the first code's data. Other fields stay unchanged. A number that is not the status of an error is
    /// replaced by 500, and fails tests.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        let is_error = (400..600).contains(&status);
        debug_assert!(is_error, "{status} is not the status of an error");
        let status = if is_error { status } else { DEFAULT_STATUS };
        let code = self.code().to_owned();
        if let Some(Value::Object(map)) = self.data_mut(&code) {
            map.insert("status".to_owned(), status.into());
            return self;
        }
        let map = Map::from_iter([("status".to_owned(), Value::from(status))]);
        self.set_data(code, Value::Object(map));
        self
    }

    /// Replaces the first code's data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        let code = self.code().to_owned();
        self.set_data(code, data);
        self
    }

    /// Adds a message. Data that PHP considers empty (`null`, `false`, `0`, `""`, an empty list or map) is not stored.
    pub fn add(&mut self, code: impl Into<String>, message: impl Into<String>, data: Option<Value>) {
        let code = code.into();
        match self.0.messages.iter_mut().find(|(c, _)| *c == code) {
            Some((_, messages)) => messages.push(message.into()),
            None => self.0.messages.push((code.clone(), vec![message.into()])),
        }
        if let Some(data) = data.filter(svc_php::cast::truthy) {
            self.add_data(data, Some(&code));
        }
    }

    /// Sets the data of a code (the first one if `None` or empty). Its previous data is listed as additional data.
    pub fn add_data(&mut self, data: Value, code: Option<&str>) {
        let code = self.or_first(code).to_owned();
        match self.0.data.iter_mut().find(|d| d.code == code) {
            Some(slot) => {
                let before = std::mem::replace(&mut slot.last, data);
                if !before.is_null() {
                    slot.earlier.push(before);
                }
            }
            None => self.0.data.push(CodeData { code, last: data, earlier: Vec::new() }),
        }
    }

    /// Removes a code with all its messages and data.
    pub fn remove(&mut self, code: &str) {
        self.0.messages.retain(|(c, _)| c != code);
        self.0.data.retain(|d| d.code != code);
    }

    /// Adds all messages and data of another error.
    pub fn merge(&mut self, other: Error) {
        let ErrorParts { messages, data } = *other.0;
        for (code, messages) in messages {
            for message in messages {
                self.add(code.clone(), message, None);
            }
        }
        for CodeData { code, last, earlier } in data {
            for value in earlier.into_iter().chain([last]).filter(|data| !data.is_null()) {
                self.add_data(value, Some(&code));
            }
        }
    }

    /// The first code; empty if there is none.
    pub fn code(&self) -> &str {
        self.0.messages.first().map_or("", |(code, _)| code)
    }

    /// The first message of the first code; empty if there is none.
    pub fn message(&self) -> &str {
        self.0.messages.first().and_then(|(_, messages)| messages.first()).map_or("", String::as_str)
    }

    /// The current data of the first code.
    pub fn data(&self) -> Option<&Value> {
        self.data_for(self.code())
    }

    /// The current data of a code (of the first one if empty); `None` if it is null.
    pub fn data_for(&self, code: &str) -> Option<&Value> {
        self.slot(code).map(|d| &d.last).filter(|v| !v.is_null())
    }

    /// All codes, in order.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.0.messages.iter().map(|(code, _)| code.as_str())
    }

    /// The messages of a code, in order.
    pub fn messages_for(&self, code: &str) -> &[String] {
        self.0.messages.iter().find(|(c, _)| c == code).map_or(&[], |(_, messages)| messages)
    }

    /// All messages of all codes, in order.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.0.messages.iter().flat_map(|(_, messages)| messages.iter().map(String::as_str))
    }

    /// The HTTP status: the latest numeric `status` in the first code's data, otherwise 500.
    ///
    /// Source: specification, "Errors", 1. As in WordPress, only the first code's data is considered.
    pub fn status(&self) -> u16 {
        self.all_data(self.code())
            .into_iter()
            .rev()
            .filter_map(|data| data.get("status"))
            .find_map(svc_php::numeric::number)
            .map_or(DEFAULT_STATUS, |n| u16::try_from(n.to_int()).unwrap_or(DEFAULT_STATUS))
    }

    /// The response body: `code`, `message` and `data` of the first message, and `additional_data` and
    /// `additional_errors` for the others. Null if there is no message. Source: specification, "Errors", 2 and 3.
    pub fn to_body(&self) -> Value {
        let mut all = self.0.messages.iter().flat_map(|(code, messages)| messages.iter().map(move |m| (code, m)));
        let Some((code, message)) = all.next() else { return Value::Null };
        let mut body = self.object(code, message);
        let rest: Vec<Value> = all.map(|(code, message)| Value::Object(self.object(code, message))).collect();
        if !rest.is_empty() {
            body.insert("additional_errors".to_owned(), Value::Array(rest));
        }
        Value::Object(body)
    }

    fn object(&self, code: &str, message: &str) -> Map<String, Value> {
        let all = self.all_data(code);
        let mut map = Map::with_capacity(3);
        // Codes are keys of a PHP array, where a string of digits becomes an integer.
        map.insert("code".to_owned(), integer_key(code).map_or_else(|| code.into(), Value::from));
        map.insert("message".to_owned(), message.into());
        map.insert("data".to_owned(), all.last().copied().cloned().unwrap_or_default());
        if let Some((_, earlier @ [_, ..])) = all.split_last() {
            map.insert("additional_data".to_owned(), earlier.iter().copied().cloned().collect());
        }
        map
    }

    /// All data of a code that is not null, oldest first. Source: `get_all_error_data`.
    fn all_data(&self, code: &str) -> Vec<&Value> {
        let slot = self.slot(code);
        slot.iter().flat_map(|d| d.earlier.iter().chain([&d.last])).filter(|data| !data.is_null()).collect()
    }

    /// The data of a code; an empty code selects the first one.
    fn slot(&self, code: &str) -> Option<&CodeData> {
        let code = self.or_first(Some(code));
        self.0.data.iter().find(|d| d.code == code)
    }

    fn or_first<'a>(&'a self, code: Option<&'a str>) -> &'a str {
        code.filter(|c| !c.is_empty() && *c != "0").unwrap_or_else(|| self.code())
    }

    fn data_mut(&mut self, code: &str) -> Option<&mut Value> {
        self.0.data.iter_mut().find(|d| d.code == code).map(|d| &mut d.last)
    }

    fn set_data(&mut self, code: String, data: Value) {
        match self.data_mut(&code) {
            Some(slot) => *slot = data,
            None => self.0.data.push(CodeData { code, last: data, earlier: Vec::new() }),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("status", &self.status()).field("body", &self.to_body()).finish()
    }
}

impl std::error::Error for Error {}

impl From<TooManyItems> for Error {
    fn from(_: TooManyItems) -> Self {
        Error::too_many_values()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn body_has_code_message_and_data() {
        let error = Error::new("rest_x", "No.").with_data(json!({"a": 1})).with_status(404);
        assert_eq!(error.status(), 404);
        assert_eq!(error.to_body(), json!({"code": "rest_x", "message": "No.", "data": {"a": 1, "status": 404}}));
    }

    #[test]
    fn default_status_is_500_and_data_is_null() {
        let error = Error::new("rest_x", "No.");
        assert_eq!((error.status(), error.to_body()["data"].clone()), (500, Value::Null));
    }

    #[test]
    fn replaced_data_is_additional_data() {
        let mut error = Error::new("a", "A").with_data(json!({"status": 400}));
        error.add_data(json!(7), None);
        error.add("b", "B", Some(json!({"status": 404})));
        error.add("a", "A again", Some(json!([])));
        assert_eq!(error.status(), 400);
        assert_eq!(
            error.to_body(),
            json!({
                "code": "a", "message": "A", "data": 7, "additional_data": [{"status": 400}],
                "additional_errors": [
                    {"code": "a", "message": "A again", "data": 7, "additional_data": [{"status": 400}]},
                    {"code": "b", "message": "B", "data": {"status": 404}},
                ],
            })
        );
    }

    #[test]
    fn null_data_is_omitted() {
        let status = |status: u16| json!({"status": status});
        #[rustfmt::skip]
        let rows = [
            // data in the order in which it is added, then `data` and `additional_data` of the response, and the status
            (vec![status(400), status(400), Value::Null], status(400), json!([{"status": 400}]), 400),
            (vec![status(400), Value::Null], status(400), Value::Null, 400),
            (vec![Value::Null], Value::Null, Value::Null, 500),
            (vec![status(404), Value::Null, json!(7)], json!(7), json!([{"status": 404}]), 404),
            (vec![json!(1), json!(2), json!(3)], json!(3), json!([1, 2]), 500),
        ];
        for (all, data, additional, status) in rows {
            let mut error = Error::new("a", "A");
            all.iter().for_each(|data| error.add_data(data.clone(), None));
            let mut merged = Error::empty();
            merged.merge(error.clone());
            for error in [error, merged] {
                let body = error.to_body();
                assert_eq!(
                    (&body["data"], &body["additional_data"], error.status()),
                    (&data, &additional, status),
                    "{all:?}"
                );
            }
        }
    }

    #[test]
    fn remove_deletes_messages_and_data() {
        let mut error = Error::new("a", "A").with_status(400);
        error.remove("a");
        assert!(error.is_empty() && error.to_body().is_null() && error.status() == 500);
        let mut error = Error::new("a", "A").with_status(400);
        error.add("b", "B", Some(json!({"status": 404})));
        error.remove("a");
        assert!(!error.is_empty());
        assert_eq!(error.to_body(), json!({"code": "b", "message": "B", "data": {"status": 404}}));
        error.add("a", "A again", None);
        assert_eq!(error.data_for("a"), None);
    }

    #[test]
    fn codes_and_messages_are_in_the_order_of_addition() {
        let mut error = Error::new("b", "B");
        error.add("a", "A", Some(json!(1)));
        error.add("b", "B again", Some(json!(2)));
        assert_eq!(error.codes().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(error.messages().collect::<Vec<_>>(), ["B", "B again", "A"]);
        assert_eq!((error.messages_for("b"), error.messages_for("c")), (&["B".into(), "B again".into()][..], &[][..]));
        // As in PHP, an empty code and "0" select the first one.
        let data = ["", "0", "b", "a", "c"].map(|code| error.data_for(code).cloned());
        assert_eq!(data, [Some(json!(2)), Some(json!(2)), Some(json!(2)), Some(json!(1)), None]);
        assert_eq!(error.to_string(), "b: B");
        assert!(format!("{error:?}").starts_with("Error { status: 500, body: Object {"), "{error:?}");
    }

    #[test]
    fn status_out_of_range_is_500() {
        assert_eq!(Error::new("a", "A").with_data(json!({"status": 99_999_999})).status(), 500);
        assert_eq!(Error::new("a", "A").with_data(json!({"status": "403"})).status(), 403);
    }
}
