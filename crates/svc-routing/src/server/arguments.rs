//! Turns the parameters of a request into the arguments that permission and handler receive.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;
use svc_schema::{Arg, Error, Notices, Sanitizer};

use crate::messages::error::invalid_request;
use crate::{BoundEndpoint, Request};

/// Validates and sanitizes the parameters by the endpoint's arguments.
///
/// # Errors
/// `rest_invalid_json`, `rest_missing_callback_param`, `rest_invalid_param` with all invalid parameters at once,
/// `rest_invalid_params`, or the error of a callback.
pub(super) fn prepare(mut req: Request, endpoint: &BoundEndpoint) -> Result<Request, (Request, Error)> {
    if req.collects_notices() {
        collect_notices(&req, endpoint);
    }
    if let Err(error) = validate(&req, endpoint) {
        return Err((req, error));
    }
    let mut sanitized = sanitize_with_request(&req, endpoint);
    let precomputed =
        |name: &str| endpoint.steps.sanitizers.contains_key(name).then(|| sanitized.pop_front()).flatten();
    match endpoint.args.sanitize_by(req.params_mut().sources_mut(), precomputed) {
        Ok(()) => Ok(req),
        Err(error) => Err((req, error)),
    }
}

/// Sanitized values of the parameters whose sanitizers need the request, in the order in which
/// [`svc_schema::Args::sanitize_by`] visits the parameters.
fn sanitize_with_request(req: &Request, endpoint: &BoundEndpoint) -> VecDeque<Result<Value, Error>> {
    let sanitizers = &endpoint.steps.sanitizers;
    if sanitizers.is_empty() {
        return VecDeque::new();
    }
    let params = req.params();
    let sent = params.sources().iter().flat_map(|source| params.all_from(*source));
    let known = sent.filter(|(name, _)| endpoint.args.get(name).is_some());
    known.filter_map(|(name, value)| Some(sanitizers.get(&*name)?(req, value))).collect()
}

/// Records problems of the argument schemas in debug mode. This sanitizes a second time, so that requests outside of
/// debug mode do not pay for it.
fn collect_notices(req: &Request, endpoint: &BoundEndpoint) {
    let mut notices = Notices::new();
    for (name, arg) in endpoint.args.iter() {
        let by_schema = matches!(arg.sanitize, Sanitizer::BySchema | Sanitizer::Parse);
        if let (Some(schema), Some(value), true) = (&arg.schema, req.param(name), by_schema) {
            // Only the notices are needed; the result is computed again below.
            let _outcome = schema.sanitize_with(value.clone(), name, &mut notices);
        }
    }
    notices.into_vec().into_iter().for_each(|notice| req.notice(notice));
}

fn validate(req: &Request, endpoint: &BoundEndpoint) -> Result<(), Error> {
    req.check_json()?;
    let check = |name: &str, arg: &Arg, value: &Value| match endpoint.steps.validators.get(name) {
        Some(check) => check(req, value),
        None => arg.check(value, name),
    };
    endpoint.args.validate_by(|name| req.param(name), check)?;
    match &endpoint.check {
        Some(check) if !check(req)? => Err(invalid_request()),
        _ => Ok(()),
    }
}

/// The request for the permission callback of `endpoint`, if another endpoint of the route was called or its parameters
/// are invalid: sanitized as far as possible.
pub(super) fn for_permission(req: &Request, endpoint: &BoundEndpoint) -> Request {
    let url = req.params().url.clone();
    let mut req = req.clone().with_args(url, endpoint.defaults.clone(), Some(Arc::clone(&endpoint.args)));
    let mut sanitized = endpoint.args.iter().filter(|(_, arg)| !matches!(arg.sanitize, Sanitizer::None));
    if sanitized.any(|(name, _)| req.has_param(name)) {
        // Invalid values are passed to the permission callback as sent.
        endpoint.args.sanitize_fitting(req.params_mut().sources_mut());
    }
    req
}
