//! What a browser sends to the pages of sign-in: short forms and queries.

use axum::extract::Request;
use http::StatusCode;

/// Largest form, in bytes.
const LARGEST: usize = 64 << 10;

/// Largest form with a text, in bytes: 65,525 bytes of a comment, each written with three characters, and what is around it.
pub(crate) const LARGEST_TEXT: usize = 256 << 10;

/// Most fields that are looked at.
const MOST_FIELDS: usize = 50;

/// Fields by name; of several with one name the last counts, as in PHP. No `Debug`: it holds passwords.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads what stands behind a `?`, or in a form's body.
    pub(crate) fn parse(text: &str) -> Self {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|p| !p.is_empty()).take(MOST_FIELDS);
        Form(
            pairs
                .map(|p| p.split_once('=').map_or((decode(p), String::new()), |(k, v)| (decode(k), decode(v))))
                .collect(),
        )
    }

    /// The value of a field; empty without one.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().rev().find(|(k, _)| k == name).map_or("", |(_, v)| v)
    }

    /// Whether there is such a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(k, _)| k == name)
    }
}

/// The form in a request's body.
///
/// # Errors
/// The status to answer with when it is too large, or broke off.
pub(crate) async fn read(request: Request) -> Result<Form, StatusCode> {
    read_up_to(request, LARGEST).await
}

/// [`read`] of a form with up to so many bytes.
///
/// # Errors
/// As [`read`].
pub(crate) async fn read_up_to(request: Request, largest: usize) -> Result<Form, StatusCode> {
    let body = axum::body::to_bytes(request.into_body(), largest).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    Ok(Form::parse(&String::from_utf8_lossy(&body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_forms() {
        let form = Form::parse("log=a+b%2B&pwd=%C3%A9&empty=&flag&log=last");
        assert_eq!((form.get("log"), form.get("pwd"), form.get("empty"), form.get("none")), ("last", "é", "", ""));
        assert!(form.has("flag") && form.has("empty") && !form.has("none"));
    }
}
