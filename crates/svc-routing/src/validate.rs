//! From the parameters that were sent to the arguments that permission and handler see.

use std::sync::Arc;

use svc_schema::{Error, Notices, Sanitizer};

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
    match endpoint.args.sanitize(req.params_mut().counted_mut()) {
        Ok(()) => Ok(req),
        Err(error) => Err((req, error)),
    }
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
    if let Err(refused) = endpoint.args.validate(|name| req.param(name)) {
        let Some(accepts) = &endpoint.accepts else { return Err(refused) };
        let mut taken = Vec::new();
        for (name, _) in endpoint.args.iter() {
            if req.param(name).is_some() && accepts(req, name)? {
                taken.push(name);
            }
        }
        endpoint.args.validate(|name| req.param(name).filter(|_| !taken.contains(&name)))?;
    }
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
