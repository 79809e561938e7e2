//! Forms and query strings.

use axum::extract::Request;
use http::StatusCode;
use validator::ValidationErrors;

/// Maximum size of a form, in bytes.
pub(crate) const MAX_SIZE: usize = 64 << 10;

/// Maximum size of a comment form, in bytes: 65,525 bytes of percent-encoded text, and the other fields.
pub(crate) const MAX_COMMENT_SIZE: usize = 256 << 10;

/// Maximum number of fields; further ones are ignored, as by PHP's `max_input_vars`.
const MAX_FIELDS: usize = 1_000;

/// Fields by name. The last of several with the same name is used, as in PHP. No `Debug`, since it may contain passwords.
#[derive(Clone, Default)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Parses a query string or the body of a form.
    pub fn parse(text: &str) -> Self {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|p| !p.is_empty()).take(MAX_FIELDS);
        Form(
            pairs
                .map(|p| p.split_once('=').map_or((decode(p), String::new()), |(k, v)| (decode(k), decode(v))))
                .collect(),
        )
    }

    /// The value of a field; empty if it is missing.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(k, _)| k == name).map_or("", |(_, v)| v)
    }

    /// The values of all fields of this name, in the order of the form.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(k, _)| k == name).map(|(_, v)| &**v)
    }

    /// Names and values of all fields, in the order of the form.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Whether the field exists, even if it is empty.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(k, _)| k == name)
    }
}

/// The message of the first invalid field, in this order of fields.
pub(crate) fn first_message(errors: &ValidationErrors, fields: &[&str]) -> Option<String> {
    let errors = errors.field_errors();
    fields.iter().find_map(|field| Some(errors.get(*field)?.first()?.message.as_ref()?.to_string()))
}

/// Reads the form in a request's body.
///
/// # Errors
/// Returns the status of the response if the body is too large or incomplete.
pub(crate) async fn read(request: Request) -> Result<Form, StatusCode> {
    read_up_to(request, MAX_SIZE).await
}

/// Reads a form of up to `max_size` bytes.
///
/// # Errors
/// As [`read`].
pub(crate) async fn read_up_to(request: Request, max_size: usize) -> Result<Form, StatusCode> {
    let body = axum::body::to_bytes(request.into_body(), max_size).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    Ok(Form::parse(&String::from_utf8_lossy(&body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_fields() {
        let form = Form::parse("log=a+b%2B&pwd=%C3%A9&empty=&flag&log=last");
        assert_eq!((form.get("log"), form.get("pwd"), form.get("empty"), form.get("none")), ("last", "é", "", ""));
        assert!(form.has("flag") && form.has("empty") && !form.has("none"));
    }
}
