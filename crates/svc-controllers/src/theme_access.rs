//! Access to the families of themes, and how their routes name themes.

use serde_json::Value;
use svc_auth::Caller;
use svc_routing::Result;
use svc_schema::Error;
use svc_site::Access;

use crate::RestSite;

/// No such theme.
pub(crate) fn not_found() -> Error {
    Error::new("rest_theme_not_found", "There is no such theme.").with_status(404)
}

/// Whether the caller writes posts of any type that the interface serves.
pub(crate) fn is_writer(site: &RestSite, caller: &Caller, access: &Access<'_>) -> bool {
    access.can(caller, "edit_posts")
        || site.types.iter().any(|t| t.show_in_rest && access.can(caller, &t.caps.edit_posts))
}

/// A stylesheet as it stands in an address: percent-encoded, with a slash that may stand at its end.
pub(crate) fn clean_stylesheet(value: Value, _: &str) -> Result<Value> {
    let text = svc_php::cast::to_text(&value);
    let decoded = percent_encoding::percent_decode_str(&text).decode_utf8_lossy();
    Ok(decoded.trim_end_matches('/').into())
}

/// The pattern of a theme's folder in an address: one name, or two.
pub(crate) const FOLDER: &str = r#"[^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?"#;
