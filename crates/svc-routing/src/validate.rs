//! From the parameters that were sent to the arguments that permission and handler see.

use std::{collections::VecDeque, sync::Arc};

use serde_json::Value;
use svc_schema::{Arg, Error, Notices, Sanitizer};

use crate::Request;
use crate::endpoint::Bound;
use crate::error::invalid_request;

/// Validates and sanitizes the parameters by the arguments of the endpoint.
///
/// # Errors
/// `rest_invalid_json`, `rest_missing_callback_param`, `rest_invalid_param` with all that is invalid at once,
/// `rest_invalid_params`, or what a callback raised.
pub(crate) fn prepare(mut req: Request, endpoint: &Bound) -> Result<Request, (Request, Error)> {
    if req.collects_notices() {
        collect_notices(&req, endpoint);
    }
    if let Err(error) = checked(&req, endpoint) {
        return Err((req, error));
    }
    let mut cleaned = cleaned_with_request(&req, endpoint);
    let own = |name: &str| endpoint.steps.sanitizers.contains_key(name).then(|| cleaned.pop_front()).flatten();
    match endpoint.args.sanitize_by(req.params_mut().counted_mut(), own) {
        Ok(()) => Ok(req),
        Err(error) => Err((req, error)),
    }
}

/// Values of the parameters whose sanitizers need the request, in the order in which [`svc_schema::Args::sanitize_by`]
/// goes over the parameters.
fn cleaned_with_request(req: &Request, endpoint: &Bound) -> VecDeque<Result<Value, Error>> {
    let sanitizers = &endpoint.steps.sanitizers;
    if sanitizers.is_empty() {
        return VecDeque::new();
    }
    let params = req.params();
    let sent = params.sources().iter().flat_map(|source| params.all_from(*source));
    let known = sent.filter(|(name, _)| endpoint.args.get(name).is_some());
    known.filter_map(|(name, value)| Some(sanitizers.get(&*name)?(req, value))).collect()
}

/// In debug mode: what is wrong about the schemas of the arguments that were sent. The schemas are run once more for it, so
/// that requests outside of debug mode do not carry the cost.
fn collect_notices(req: &Request, endpoint: &Bound) {
    let mut notices = Notices::new();
    for (name, arg) in endpoint.args.iter() {
        let by_schema = matches!(arg.sanitize, Sanitizer::BySchema | Sanitizer::Parse);
        if let (Some(schema), Some(value), true) = (&arg.schema, req.param(name), by_schema) {
            // Only the notices are wanted; the outcome is found again below.
            let _outcome = schema.sanitize_with(value.clone(), name, &mut notices);
        }
    }
    notices.into_vec().into_iter().for_each(|notice| req.notice(notice));
}

fn checked(req: &Request, endpoint: &Bound) -> Result<(), Error> {
    req.check_json()?;
    let check = |name: &str, arg: &Arg, value: &Value| match endpoint.steps.checks.get(name) {
        Some(check) => check(req, value),
        None => arg.check(value, name),
    };
    endpoint.args.validate_by(|name| req.param(name), check)?;
    match &endpoint.check {
        Some(check) if !check(req)? => Err(invalid_request()),
        _ => Ok(()),
    }
}

/// The request as the permission callback of `endpoint` is to see it when another endpoint of the route was called, or
/// when its parameters were refused: sanitized as far as they can be.
pub(crate) fn for_permission(req: &Request, endpoint: &Arc<Bound>) -> Request {
    let url = req.params().url.clone();
    let mut req = req.clone().with_endpoint(url, endpoint.defaults.clone(), Some(Arc::clone(endpoint)));
    let mut cleaned = endpoint.args.iter().filter(|(_, arg)| !matches!(arg.sanitize, Sanitizer::None));
    if cleaned.any(|(name, _)| req.has_param(name)) {
        // What is refused keeps its value: the permission callback then judges it as it was sent.
        endpoint.args.sanitize_fitting(req.params_mut().counted_mut());
    }
    req
}
