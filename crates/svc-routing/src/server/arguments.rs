//! Turns the parameters of a request into the arguments that permission and handler receive.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use svc_schema::{Arg, Error, Notices, Sanitized, Sanitizer, Validator};

use crate::messages::ParamSource;
use crate::messages::error::invalid_request;
use crate::{BoundEndpoint, Request};

/// Validates and sanitizes the parameters by the endpoint's arguments.
///
/// # Errors
/// `rest_invalid_json`, `rest_too_many_values`, `rest_missing_callback_param` with all missing parameters,
/// `rest_invalid_param` with all parameters that are not valid, or, if all are, with all that cannot be sanitized (some
/// arguments are checked in that step only), `rest_invalid_params`, or the error of a callback.
pub(super) fn prepare(req: Request, endpoint: &BoundEndpoint) -> Result<Request, (Request, Error)> {
    if req.collects_notices() {
        collect_notices(&req, endpoint);
    }
    if let Err(error) = validate(&req, endpoint) {
        return Err((req, error));
    }
    let params = req.params();
    // Most defaults were sanitized when the endpoint was registered.
    let defaults = endpoint
        .defaults
        .unsanitized
        .iter()
        .filter_map(|name| Some((ParamSource::Defaults, Cow::Borrowed(name.as_str()), params.defaults.get(name)?)));
    let clean = |name: &str, value: &Value| Some(endpoint.steps.sanitizers.get(name)?(&req, value));
    let (changed, result) = endpoint.args.sanitized(params.sent().chain(defaults), clean);
    let req = with_changes(req, changed);
    match result {
        Ok(()) => Ok(req),
        Err(error) => Err((req, error)),
    }
}

fn with_changes(mut req: Request, changed: Vec<Sanitized<ParamSource>>) -> Request {
    if !changed.is_empty() {
        let params = req.params_mut();
        changed.into_iter().for_each(|change| params.insert(change.source, change.name, change.value));
    }
    req
}

/// Records problems of the argument schemas in debug mode. This validates and sanitizes a second time, so that requests
/// outside of debug mode do not pay for it.
fn collect_notices(req: &Request, endpoint: &BoundEndpoint) {
    let mut notices = Notices::new();
    for (name, arg) in endpoint.args.iter() {
        let (Some(schema), Some(value)) = (&arg.schema, req.param(name)) else { continue };
        let is_parsed = matches!(arg.sanitize, Sanitizer::Parse);
        // An argument that has rules but no type is not validated, which its author cannot have meant.
        let is_ignored = matches!((&arg.validate, &arg.sanitize), (Validator::None, Sanitizer::None));
        // Only the notices are needed; the result is computed again below.
        if matches!(arg.validate, Validator::BySchema) || is_parsed || (is_ignored && schema.has_rules_without_type()) {
            let _outcome = schema.validate_with(value, name, &mut notices);
        }
        if matches!(arg.sanitize, Sanitizer::BySchema) || is_parsed {
            let _outcome = schema.sanitize_with(value.clone(), name, &mut notices);
        }
    }
    notices.into_vec().into_iter().for_each(|notice| req.notice(notice));
}

fn validate(req: &Request, endpoint: &BoundEndpoint) -> Result<(), Error> {
    req.check_json()?;
    endpoint.args.check_text_lists(req.params().sent().map(|(_, name, value)| (name, value)))?;
    let check = |name: &str, arg: &Arg, value: &Value| match endpoint.steps.validators.get(name) {
        Some(check) => check(req, value),
        None => arg.check(value, name),
    };
    let is_valid = |name: &str| match (endpoint.args.get(name), req.param(name)) {
        (Some(arg), Some(value)) => matches!(check(name, arg, value), Ok(true)),
        _ => true,
    };
    // Most defaults were validated when the endpoint was registered.
    let is_valid = endpoint.required.iter().all(|name| req.param(name).is_some())
        && req.params().sent().all(|(_, name, _)| is_valid(&name))
        && endpoint.defaults.unvalidated.iter().all(|name| is_valid(name));
    if !is_valid {
        // The errors are in the order of the arguments.
        endpoint.args.validate_by(|name| req.param(name), check)?;
    }
    match &endpoint.check {
        Some(check) if !check(req)? => Err(invalid_request()),
        _ => Ok(()),
    }
}

/// The request for the permission callback of `endpoint`, if another endpoint of the route was called or its parameters
/// are invalid: sanitized as far as possible.
pub(super) fn for_permission(req: &Request, endpoint: &BoundEndpoint) -> Request {
    let url = Arc::clone(&req.params().url);
    let req = req.clone().with_args(url, Arc::clone(&endpoint.defaults.values), Some(Arc::clone(&endpoint.args)));
    // Invalid values are passed to the permission callback as sent.
    let changed = endpoint.args.sanitized_if_valid(req.params().sent());
    with_changes(req, changed)
}
