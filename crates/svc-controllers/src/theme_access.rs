//! Access to the families of themes, and how their routes name themes.

use serde_json::Value;
use svc_routing::{Request, Result};
use svc_schema::Error;
use svc_site::{Access, Site};

use crate::caller;

/// No such theme.
pub(crate) fn not_found() -> Error {
    Error::new("rest_theme_not_found", "There is no such theme.").with_status(404)
}

/// Whether the caller may edit posts of any type in the REST API.
///
/// # Errors
/// Database errors.
pub(crate) fn is_writer(site: &Site, req: &Request) -> Result<bool> {
    let (settings, caller) = (site.settings(req.cx())?, caller(req));
    let access = Access::new(site, &settings);
    let may_edit = |cap: &str| access.can(&caller, cap);
    Ok(may_edit("edit_posts") || site.registries.types.iter().any(|t| t.show_in_rest && may_edit(&t.caps.edit_posts)))
}

/// Decodes a name in a path as PHP's `urldecode` does: `+` is a space.
pub(crate) fn decoded(value: &Value) -> String {
    let text = svc_php::cast::to_text(value).replace('+', " ");
    percent_encoding::percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

/// Sanitizes a stylesheet in a path: decodes it and removes trailing slashes.
pub(crate) fn clean_stylesheet(value: Value, _: &str) -> Result<Value> {
    Ok(decoded(&value).trim_end_matches('/').into())
}

/// Pattern of a theme's folder in a path: one name, or two.
pub(crate) const FOLDER: &str = r#"[^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?"#;
