//! The registration rules of specification section Route registration.

use svc_schema::{Notice, NoticeKind};

use crate::matching::Pattern;
use crate::routes::Route;

/// The function name in notices about registration.
const REGISTER: &str = "register_rest_route";
/// The version since which each registration rule applies.
const SINCE_NAMESPACE: &str = "4.4.0";
const SINCE_INIT: &str = "5.1.0";
const SINCE_SLASHES: &str = "5.4.2";
const SINCE_PERMISSION: &str = "5.5.0";

/// A validated route, with its full pattern.
pub(super) struct ValidatedRoute<C> {
    pub(super) namespace: String,
    pub(super) pattern: String,
    pub(super) route: Route<C>,
}

fn notice(message: String, version: &str) -> Notice {
    Notice::new(NoticeKind::DoingItWrong, REGISTER, message).since(version)
}

/// Applies the rules. Also returns the notices of rules that do not reject.
///
/// # Errors
/// The notice of a rule that rejects the route.
pub(super) fn validate<C>(
    namespace: &str,
    route: Route<C>,
    initialized: bool,
) -> Result<(ValidatedRoute<C>, Vec<Notice>), Notice> {
    let mut raised = Vec::new();
    let trimmed = namespace.trim_matches('/').to_owned();
    let path = route.pattern.trim_matches('/').to_owned();
    if trimmed.is_empty() {
        let text = format!("Routes must be namespaced. The route `{path}` has no namespace.");
        return Err(notice(text, SINCE_NAMESPACE));
    }
    if path.is_empty() {
        return Err(notice(format!("A route in the namespace `{trimmed}` has no path."), SINCE_NAMESPACE));
    }
    let pattern = format!("/{trimmed}/{path}");
    if let Err(problem) = Pattern::compile(&pattern) {
        return Err(notice(format!("The route `{pattern}` is not a valid pattern: {problem}"), SINCE_NAMESPACE));
    }
    if trimmed != namespace {
        let text = format!("The namespace must not start or end with a slash: `{namespace}` of the route `{path}`.");
        raised.push(notice(text, SINCE_SLASHES));
    }
    if !initialized {
        let text = format!("The route `{pattern}` was registered before `rest_api_init`.");
        raised.push(notice(text, SINCE_INIT));
    }
    for endpoint in route.endpoints.iter().filter(|e| !e.has_permission) {
        let methods = endpoint.methods.iter().map(http::Method::as_str).collect::<Vec<_>>().join(", ");
        let text = format!(
            "The route `{pattern}` has no permission callback for {methods}. Use `public` if anybody may call it."
        );
        raised.push(notice(text, SINCE_PERMISSION));
    }
    Ok((ValidatedRoute { namespace: trimmed, pattern, route }, raised))
}
