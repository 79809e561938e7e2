//! Checks of names and paths.

use validator::ValidationError;

/// Types of meta and settings.
const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// `Ok` if `is_valid`, else an error with this message.
pub(super) fn require(is_valid: bool, message: impl FnOnce() -> String) -> Result<(), ValidationError> {
    if is_valid { Ok(()) } else { Err(ValidationError::new("invalid").with_message(message().into())) }
}

pub(super) fn check_name(name: &str, max: usize) -> Result<(), ValidationError> {
    let is_valid = (1..=max).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    require(is_valid, || format!("the name `{name}` must be 1 to {max} of a-z, 0-9, - and _"))
}

/// Checks a path, which becomes part of a URL. `field` is its name.
pub(super) fn check_path(field: &str, text: &str) -> Result<(), ValidationError> {
    let is_valid = (1..=100).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'/'))
        && text.split('/').all(|part| !part.is_empty());
    require(is_valid, || format!("{field} `{text}` must consist of letters, digits, - and _, with / between them"))
}

pub(super) fn check_rest_base(text: &str) -> Result<(), ValidationError> {
    check_path("rest_base", text)
}

pub(super) fn check_slug(text: &str) -> Result<(), ValidationError> {
    check_path("slug", text)
}

pub(super) fn check_kind(kind: &str) -> Result<(), ValidationError> {
    require(KINDS.contains(&kind), || format!("the type `{kind}` must be one of {}", KINDS.join(", ")))
}

/// Checks that a name and its REST API base are not those of the core (`taken`).
pub(super) fn check_free<'t>(
    what: &str,
    (name, base): (&str, &str),
    mut taken: impl Iterator<Item = (&'t str, &'t str)>,
) -> Result<(), ValidationError> {
    let is_taken = taken.any(|(other, other_base)| other == name || other_base == base);
    require(!is_taken, || format!("every site has a {what} `{name}`, or its base in the REST API"))
}
